# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,untyped-decorator"
# ruff: noqa: N803
"""Light rows: their survivors listed by row and by token, and sums of what these point at."""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor

from thresher.lm.losses.kernels.entries import logit_gradient, unpacked
from thresher.lm.losses.kernels.plan import Plan
from thresher.lm.losses.kernels.recording import Layer, Record
from thresher.lm.losses.kernels.row_groups import RowGroups
from thresher.lm.losses.kernels.token_counts import TokenPlaces

LIST_BLOCK = 64
GATHERED = 4  # vectors on their way at once
GATHER_WIDTH = 1024
GATHER_WARPS = 4


@dataclass(frozen=True)
class Lists:
    """What is summed up where: out[owner] = Σ factor·vectors[index] over a list's entries.

    owner, begin, end: (lists,)   index, factor: (entries,), int32 and float32; no entry at −1
    """

    owner: Tensor
    begin: Tensor
    end: Tensor
    index: Tensor
    factor: Tensor


def lists_by_row(
    record: Record, layer: Layer, terms: Tensor, groups: RowGroups, plan: Plan
) -> tuple[Lists, Tensor]:
    """The tokens that survive in each light row, longest lists first; and each entry's row."""
    rows, offsets = groups.order[groups.dense :], groups.offsets[groups.dense :]
    index = torch.empty(groups.listed, dtype=torch.int32, device=rows.device)
    owners, factor = torch.empty_like(index), torch.empty_like(index, dtype=torch.float32)
    if groups.listed:
        _list_rows[(len(rows),)](
            record.entries,
            *record.entries.shape,
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
    return Lists(rows, offsets[:-1], offsets[1:], index, factor), owners


def lists_by_token(by_row: Lists, owners: Tensor, places: TokenPlaces) -> Lists:
    """The light rows in which each token survives, in the order in which they are listed by row."""
    order = by_row.index.argsort(stable=True)
    return Lists(places.owner, places.begin, places.end, owners[order], by_row.factor[order])


def gather_sums(
    lists: Lists, vectors: Tensor, scale: float, *, out: Tensor, begun: Tensor | None = None
) -> None:
    """out[owner] = scale·(begun + Σ factor·vectors[index]) of each list, summed in float32.

    vectors, out: (…, width)   begun: (lists, width), float32, 0 without it
    """
    many, width = len(lists.owner), vectors.shape[1]
    if not many:
        return
    block = min(GATHER_WIDTH, triton.next_power_of_2(width))
    _gather_sums[(many, triton.cdiv(width, block))](
        lists.owner,
        lists.begin,
        lists.end,
        lists.index,
        lists.factor,
        vectors,
        out if begun is None else begun,
        scale,
        out,
        width,
        BEGUN=begun is not None,
        MANY=GATHERED,
        BLOCK=block,
        num_warps=GATHER_WARPS,
    )


@triton.jit
def _list_rows(
    entries,
    lists,
    room,
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
    sharpness,
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
    limit = tl.load(terms + positions + row)
    occupied = tl.load(offsets + place + 1) > out
    entries += row % lists * room
    for chunk in range(0, tl.where(occupied, chunks, 0)):
        start = tl.load(starts + chunk * positions + row)
        length = tl.load(lengths + chunk * positions + row)
        for done in range(0, length, BLOCK):
            step = done + tl.arange(0, BLOCK)
            mask = step < length
            u, column = unpacked(tl.load(entries + start + step, mask=mask, other=0), WIDE)
            token = chunk * CHUNK + column
            values = logit_gradient(
                u + limit,
                token,
                mask,
                row,
                target,
                terms,
                positions,
                class_weight,
                sharpness,
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
    owner,
    begin,
    end,
    index,
    factor,
    vectors,
    begun,
    scale,
    out,
    width,
    BEGUN: tl.constexpr,
    MANY: tl.constexpr,
    BLOCK: tl.constexpr,
):
    which = tl.program_id(0).to(tl.int64)
    place = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = place < width
    last = tl.load(end + which)
    sums = tl.zeros((BLOCK,), dtype=tl.float32)
    if BEGUN:
        sums += tl.load(begun + which * width + place, mask=inside, other=0.0)
    for done in range(tl.load(begin + which), last, MANY):
        step = done + tl.arange(0, MANY)
        row = tl.load(index + step, mask=step < last, other=-1).to(tl.int64)
        mask = row >= 0
        times = tl.load(factor + step, mask=mask, other=0.0)
        both = mask[:, None] & inside[None, :]
        vector = tl.load(vectors + row[:, None] * width + place[None, :], mask=both, other=0.0)
        sums += tl.sum(vector.to(tl.float32) * times[:, None], 0)
    out += tl.load(owner + which).to(tl.int64) * width + place
    tl.store(out, (sums * scale).to(out.dtype.element_ty), mask=inside)
