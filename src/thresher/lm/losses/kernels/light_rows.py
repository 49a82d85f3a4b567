# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,untyped-decorator"
# ruff: noqa: N803
"""Light rows: list their survivors by row and by token, and sum the vectors these refer to."""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor

from thresher.lm.losses.kernels.entries import load_survivors, logit_gradient
from thresher.lm.losses.kernels.row_groups import BackwardPass
from thresher.lm.losses.kernels.token_counts import TokenRanges

LIST_BLOCK = 64
GATHERED = 4  # vectors that one program loads at once
GATHER_WIDTH = 1024
GATHER_WARPS = 4


@dataclass(frozen=True)
class Lists:
    """Lists of terms to sum: out[owner] = Σ factor·vectors[index] over the entries of a list.

    owner, begin, end: (lists,)
    index, factor: (entries,), int32 and float32; entries with index −1 are skipped
    """

    owner: Tensor
    begin: Tensor
    end: Tensor
    index: Tensor
    factor: Tensor


def lists_by_row(backward: BackwardPass) -> tuple[Lists, Tensor]:
    """Return the surviving tokens of each light row, longest lists first; and each entry's row."""
    record, layer, groups = backward.record, backward.layer, backward.groups
    terms = backward.terms
    rows, offsets = groups.order[groups.dense :], groups.offsets[groups.dense :]
    index = torch.empty(groups.listed, dtype=torch.int32, device=rows.device)
    owners, factor = torch.empty_like(index), torch.empty_like(index, dtype=torch.float32)
    if groups.listed:
        _list_rows[(len(rows),)](
            *record.survivor_arguments,
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
            CHUNK=backward.plan.columns,
            SMOOTHED=layer.class_weight is not None,
            WIDE=record.is_wide,
            BLOCK=LIST_BLOCK,
            num_warps=1,
            **layer.scaling_arguments,
        )
    return Lists(rows, offsets[:-1], offsets[1:], index, factor), owners


def lists_by_token(by_row: Lists, owners: Tensor, ranges: TokenRanges) -> Lists:
    """Return the light rows in which each token survives, in the order of the lists by row."""
    order = by_row.index.argsort(stable=True)
    return Lists(ranges.owner, ranges.begin, ranges.end, owners[order], by_row.factor[order])


def gather_sums(
    lists: Lists, vectors: Tensor, scale: float, *, out: Tensor, initial: Tensor | None = None
) -> None:
    """Compute out[owner] = scale·(initial + Σ factor·vectors[index]) of each list, in float32.

    vectors, out: (…, width)   initial: (lists, width), float32, by default 0
    """
    count, width = len(lists.owner), vectors.shape[1]
    if not count:
        return
    block = min(GATHER_WIDTH, triton.next_power_of_2(width))
    _gather_sums[(count, triton.cdiv(width, block))](
        lists.owner,
        lists.begin,
        lists.end,
        lists.index,
        lists.factor,
        vectors,
        out if initial is None else initial,
        scale,
        out,
        width,
        HAS_INITIAL=initial is not None,
        MANY=GATHERED,
        BLOCK=block,
        num_warps=GATHER_WARPS,
    )


@triton.jit
def _list_rows(
    entries, lists, capacity, starts, lengths,
    class_weight, target, terms, positions,
    rows, offsets, index, owners, factor, chunks, sharpness, softcap,
    HAS_SOFTCAP: tl.constexpr, SMOOTHED: tl.constexpr, WIDE: tl.constexpr,
    CHUNK: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Write the tokens and gradients of one row's survivors to its list."""
    which = tl.program_id(0)
    row = tl.load(rows + which)
    out = tl.load(offsets + which)
    limit = tl.load(terms + positions + row)
    occupied = tl.load(offsets + which + 1) > out
    entries += row % lists * capacity
    for chunk in range(0, tl.where(occupied, chunks, 0)):
        start = tl.load(starts + chunk * positions + row)
        length = tl.load(lengths + chunk * positions + row)
        for done in range(0, length, BLOCK):
            number, mask, u, column = load_survivors(entries + start, done, length, WIDE, BLOCK)
            token = chunk * CHUNK + column
            values = logit_gradient(
                u + limit, token, mask, row, target, terms, positions, class_weight,
                sharpness, softcap, HAS_SOFTCAP, SMOOTHED,
            )  # fmt: skip
            tl.store(index + out + number, token, mask=mask)
            tl.store(owners + out + number, row.to(tl.int32), mask=mask)
            tl.store(factor + out + number, values, mask=mask)
        out += length


@triton.jit
def _gather_sums(
    owner, begin, end, index, factor, vectors, initial, scale, out, width,
    HAS_INITIAL: tl.constexpr, MANY: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Sum the vectors of one list, for a block of their width."""
    which = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < width
    last = tl.load(end + which)
    sums = tl.zeros((BLOCK,), dtype=tl.float32)
    if HAS_INITIAL:
        sums += tl.load(initial + which * width + column, mask=inside, other=0.0)
    for done in range(tl.load(begin + which), last, MANY):
        number = done + tl.arange(0, MANY)
        row = tl.load(index + number, mask=number < last, other=-1).to(tl.int64)
        mask = row >= 0
        times = tl.load(factor + number, mask=mask, other=0.0)
        both = mask[:, None] & inside[None, :]
        vector = tl.load(vectors + row[:, None] * width + column[None, :], mask=both, other=0.0)
        sums += tl.sum(vector.to(tl.float32) * times[:, None], 0)
    out += tl.load(owner + which).to(tl.int64) * width + column
    tl.store(out, (sums * scale).to(out.dtype.element_ty), mask=inside)
