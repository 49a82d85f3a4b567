# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,untyped-decorator"
# ruff: noqa: N803
"""Light rows: their survivors listed by row and by token, and sums of what these point at."""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor

from thresher.lm.kernels.entries import logit_gradient, unpacked
from thresher.lm.kernels.plan import Plan
from thresher.lm.kernels.recording import Layer, Record
from thresher.lm.kernels.row_groups import RowGroups

LIST_BLOCK = 64
GATHERED = 4  # vectors on their way at once
GATHER_WIDTH = 1024
GATHER_WARPS = 4


@dataclass(frozen=True)
class Lists:
    """For each group, which vectors it sums and by what factor: those from its offset to the next.

    offsets: (groups + 1,)   index, factor: (entries,), int32 and float32
    """

    offsets: Tensor
    index: Tensor
    factor: Tensor


def lists_by_row(
    record: Record, layer: Layer, terms: Tensor, groups: RowGroups, plan: Plan
) -> tuple[Lists, Tensor]:
    """The tokens that survive in each light row, in the order of the rows; and each entry's row."""
    rows = groups.order[groups.dense :]
    offsets = torch.zeros(len(rows) + 1, dtype=torch.int64, device=rows.device)
    offsets[1:] = record.survivors[rows].cumsum(0)
    index = torch.empty(groups.listed, dtype=torch.int32, device=rows.device)
    owners, factor = torch.empty_like(index), torch.empty_like(index, dtype=torch.float32)
    # Rows that were rounded up to dense ones leave the end unused: no token, no weight.
    index.fill_(layer.weight.shape[0])
    if groups.listed:
        _list_rows[(len(rows),)](
            record.entries,
            record.starts,
            record.lengths,
            terms if layer.class_weight is None else layer.class_weight,
            layer.target,
            terms,
            terms.shape[1],
            rows,
            offsets,
            index,
            owners,
            factor,
            record.starts.shape[0],
            CHUNK=plan.columns,
            SMOOTHED=layer.class_weight is not None,
            WIDE=record.entries.dtype == torch.int64,
            BLOCK=LIST_BLOCK,
            num_warps=1,
            **layer.scale,
        )
    return Lists(offsets, index, factor), owners


def lists_by_token(by_row: Lists, owners: Tensor, vocabulary: int) -> Lists:
    """The light rows in which each token survives, in the order in which they are listed by row."""
    index, order = by_row.index.sort(stable=True)
    tokens = torch.arange(vocabulary + 1, dtype=torch.int32, device=index.device)
    offsets = torch.searchsorted(index, tokens)
    return Lists(offsets, owners[order], by_row.factor[order])


def gather_sums(
    lists: Lists, vectors: Tensor, scale: float, *, out: Tensor, rows: Tensor | None = None
) -> None:
    """out[rows[i]] = scale·Σ factor·vectors[index] over the list i, summed in float32.

    vectors: (…, width)   rows: (groups,), 0 … without it   out: (…, width)
    """
    groups, width = len(lists.offsets) - 1, vectors.shape[1]
    if not groups:
        return
    block = min(GATHER_WIDTH, triton.next_power_of_2(width))
    _gather_sums[(groups, triton.cdiv(width, block))](
        lists.offsets,
        lists.index,
        lists.factor,
        vectors,
        scale,
        out,
        out if rows is None else rows,
        width,
        HAS_ROWS=rows is not None,
        MANY=GATHERED,
        BLOCK=block,
        num_warps=GATHER_WARPS,
    )


@triton.jit
def _list_rows(
    entries,
    starts,
    lengths,
    class_weight,
    target,
    terms,
    positions,
    rows,
    offsets,
    index,
    owners,
    factor,
    chunks,
    temperature,
    softcap,
    HAS_SOFTCAP: tl.constexpr,
    SMOOTHED: tl.constexpr,
    WIDE: tl.constexpr,
    CHUNK: tl.constexpr,
    BLOCK: tl.constexpr,
):
    place = tl.program_id(0)
    row = tl.load(rows + place)
    out = tl.load(offsets + place)
    wanted = tl.load(target + row)
    z_target = tl.load(terms + row)
    limit = tl.load(terms + positions + row)
    lse = tl.load(terms + 2 * positions + row)
    pull = tl.load(terms + 3 * positions + row)
    own = tl.load(terms + 4 * positions + row)
    even = tl.load(terms + 5 * positions + row)
    occupied = tl.load(offsets + place + 1) > out
    for chunk in range(0, tl.where(occupied, chunks, 0)):
        at = row + chunk * positions
        start = tl.load(starts + at)
        length = tl.load(lengths + at)
        for done in range(0, length, BLOCK):
            step = done + tl.arange(0, BLOCK)
            mask = step < length
            u, column = unpacked(tl.load(entries + start + step, mask=mask, other=0), WIDE)
            token = chunk * CHUNK + column
            values = logit_gradient(
                u + limit,
                token,
                wanted,
                z_target,
                lse,
                pull,
                own,
                even,
                class_weight,
                mask,
                temperature,
                softcap,
                HAS_SOFTCAP,
                SMOOTHED,
            )
            tl.store(index + out + step, token, mask=mask)
            tl.store(owners + out + step, row.to(tl.int32), mask=mask)
            tl.store(factor + out + step, values, mask=mask)
        out += length


@triton.jit
def _gather_sums(
    offsets,
    index,
    factor,
    vectors,
    scale,
    out,
    rows,
    width,
    HAS_ROWS: tl.constexpr,
    MANY: tl.constexpr,
    BLOCK: tl.constexpr,
):
    group = tl.program_id(0).to(tl.int64)
    place = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = place < width
    begin = tl.load(offsets + group)
    end = tl.load(offsets + group + 1)
    sums = tl.zeros((BLOCK,), dtype=tl.float32)
    for done in range(begin, end, MANY):
        step = done + tl.arange(0, MANY)
        mask = step < end
        which = tl.load(index + step, mask=mask, other=0).to(tl.int64)
        times = tl.load(factor + step, mask=mask, other=0.0)
        both = mask[:, None] & inside[None, :]
        vector = tl.load(vectors + which[:, None] * width + place[None, :], mask=both, other=0.0)
        sums += tl.sum(vector.to(tl.float32) * times[:, None], 0)
    sums *= scale
    row = tl.load(rows + group).to(tl.int64) if HAS_ROWS else group
    tl.store(out + row * width + place, sums.to(out.dtype.element_ty), mask=inside)
