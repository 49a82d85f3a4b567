# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,untyped-decorator"
# ruff: noqa: N803
"""Gradients of the logits of dense rows, some chunks at a time: from the record or from logits."""

import triton
import triton.language as tl
from torch import Tensor

from thresher.lm.losses.kernels.entries import load_survivors, logit_gradient, scaled
from thresher.lm.losses.kernels.recording import Layer
from thresher.lm.losses.kernels.row_groups import BackwardPass

FULL_BLOCK = 1024
HEAVY_BLOCK = 256


def fill_full_rows(
    gradient: Tensor, logits: Tensor, layer: Layer, terms: Tensor, rows: Tensor, *, first: int
) -> None:
    """Compute the gradient from logits to which neither bias nor scaling were applied yet.

    gradient, logits: (rows, columns), the columns from token `first` on
    terms: as in `BackwardPass`   rows: their positions
    """
    block = min(FULL_BLOCK, triton.next_power_of_2(logits.shape[1]))
    _full_rows[logits.shape[0], triton.cdiv(logits.shape[1], block)](
        gradient,
        gradient.stride(0),
        logits,
        logits.stride(0),
        *layer.optional_arguments(otherwise=logits),
        layer.target,
        terms,
        terms.shape[1],
        rows,
        first,
        logits.shape[1],
        HAS_BIAS=layer.bias is not None,
        SMOOTHED=layer.class_weight is not None,
        BLOCK=block,
        **layer.scaling_arguments,
    )


def fill_heavy_rows(
    gradient: Tensor, backward: BackwardPass, rows: Tensor, *, chunks: slice
) -> None:
    """Compute the gradient from the survivors recorded in some chunks.

    gradient: (rows, columns of the chunks)   rows: their positions
    """
    record, layer, terms = backward.record, backward.layer, backward.terms
    gradient.zero_()
    _heavy_rows[len(rows), chunks.stop - chunks.start](
        gradient,
        gradient.stride(0),
        *record.survivor_arguments,
        terms if layer.class_weight is None else layer.class_weight,
        layer.target,
        terms,
        terms.shape[1],
        rows,
        chunks.start,
        CHUNK=backward.plan.columns,
        SMOOTHED=layer.class_weight is not None,
        WIDE=record.is_wide,
        BLOCK=HEAVY_BLOCK,
        **layer.scaling_arguments,
    )


@triton.jit
def _full_rows(
    gradient, gradient_stride, logits, logits_stride,
    bias, class_weight, target, terms, positions,
    rows, first, columns, sharpness, softcap,
    HAS_BIAS: tl.constexpr, HAS_SOFTCAP: tl.constexpr, SMOOTHED: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """Compute a block of columns of one row."""
    which = tl.program_id(0).to(tl.int64)
    row = tl.load(rows + which)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    token = first + column
    x = tl.load(logits + which * logits_stride + column, mask=inside, other=0.0)
    if HAS_BIAS:
        x += tl.load(bias + token, mask=inside, other=0.0)
    z = scaled(x, sharpness, softcap, HAS_SOFTCAP)
    target_token = tl.load(target + row)
    z = tl.where(token == target_token, tl.load(terms + row), z)
    alive = inside & ~(z < tl.load(terms + positions + row)) & (target_token >= 0)
    values = logit_gradient(
        z, token, alive, row, target, terms, positions, class_weight,
        sharpness, softcap, HAS_SOFTCAP, SMOOTHED,
    )  # fmt: skip
    values = tl.where(alive, values, 0.0).to(gradient.dtype.element_ty)
    tl.store(gradient + which * gradient_stride + column, values, mask=inside)


@triton.jit
def _heavy_rows(
    gradient, gradient_stride, entries, lists, capacity, starts, lengths,
    class_weight, target, terms, positions, rows, first_chunk, sharpness, softcap,
    HAS_SOFTCAP: tl.constexpr, SMOOTHED: tl.constexpr, WIDE: tl.constexpr,
    CHUNK: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Compute the gradient of one row in one chunk; other columns stay zero."""
    which = tl.program_id(0).to(tl.int64)
    chunk = first_chunk + tl.program_id(1)
    row = tl.load(rows + which)
    length = tl.load(lengths + chunk * positions + row)
    entries += row % lists * capacity + tl.load(starts + chunk * positions + row)
    gradient += which * gradient_stride + tl.program_id(1) * CHUNK
    for done in range(0, length, BLOCK):
        _, mask, u, column = load_survivors(entries, done, length, WIDE, BLOCK)
        values = logit_gradient(
            u + tl.load(terms + positions + row), chunk * CHUNK + column, mask, row, target, terms,
            positions, class_weight, sharpness, softcap, HAS_SOFTCAP, SMOOTHED,
        )  # fmt: skip
        tl.store(gradient + column, values.to(gradient.dtype.element_ty), mask=mask)
