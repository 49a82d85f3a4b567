# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,untyped-decorator"
# ruff: noqa: N803
"""Gradients of the logits of dense rows, a chunk at a time: from the record or from logits anew."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from thresher.lm.losses.kernels.entries import logit_gradient, scaled, unpacked
from thresher.lm.losses.kernels.plan import Plan
from thresher.lm.losses.kernels.recording import Layer, Record

FULL_BLOCK = 1024
HEAVY_BLOCK = 256


def fill_full_rows(
    gradient: Tensor, logits: Tensor, layer: Layer, terms: Tensor, rows: Tensor, *, first: int
) -> None:
    """From the logits of the columns `first` …, not yet biased or scaled.

    gradient, logits: (rows, columns)   terms: as in `backward.gradients`   rows: their positions
    """
    block = min(FULL_BLOCK, triton.next_power_of_2(logits.shape[1]))
    _full_rows[logits.shape[0], triton.cdiv(logits.shape[1], block)](
        gradient,
        gradient.stride(0),
        logits,
        logits.stride(0),
        logits if layer.bias is None else layer.bias,
        logits if layer.class_weight is None else layer.class_weight,
        layer.target,
        terms,
        terms.shape[1],
        rows,
        first,
        logits.shape[1],
        HAS_BIAS=layer.bias is not None,
        SMOOTHED=layer.class_weight is not None,
        BLOCK=block,
        **layer.scale,
    )


def fill_heavy_rows(
    gradient: Tensor,
    record: Record,
    layer: Layer,
    terms: Tensor,
    rows: Tensor,
    plan: Plan,
    *,
    chunks: slice,
) -> None:
    """From what was recorded of some chunks: (rows, columns)."""
    gradient.zero_()
    _heavy_rows[len(rows), chunks.stop - chunks.start](
        gradient,
        gradient.stride(0),
        record.entries,
        *record.entries.shape,
        record.starts,
        record.lengths,
        terms if layer.class_weight is None else layer.class_weight,
        layer.target,
        terms,
        terms.shape[1],
        rows,
        chunks.start,
        CHUNK=plan.columns,
        SMOOTHED=layer.class_weight is not None,
        WIDE=record.entries.dtype == torch.int64,
        BLOCK=HEAVY_BLOCK,
        **layer.scale,
    )


@triton.jit
def _full_rows(
    gradient,
    gradient_stride,
    logits,
    logits_stride,
    bias,
    class_weight,
    target,
    terms,
    positions,
    rows,
    first,
    columns,
    sharpness,
    softcap,
    HAS_BIAS: tl.constexpr,
    HAS_SOFTCAP: tl.constexpr,
    SMOOTHED: tl.constexpr,
    BLOCK: tl.constexpr,
):
    place = tl.program_id(0).to(tl.int64)
    row = tl.load(rows + place)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = column < columns
    token = first + column
    x = tl.load(logits + place * logits_stride + column, mask=inside, other=0.0)
    if HAS_BIAS:
        x += tl.load(bias + token, mask=inside, other=0.0)
    z = scaled(x, sharpness, softcap, HAS_SOFTCAP)
    wanted = tl.load(target + row)
    z = tl.where(token == wanted, tl.load(terms + row), z)
    alive = inside & ~(z < tl.load(terms + positions + row)) & (wanted >= 0)
    values = logit_gradient(
        z,
        token,
        alive,
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
    values = tl.where(alive, values, 0.0).to(gradient.dtype.element_ty)
    tl.store(gradient + place * gradient_stride + column, values, mask=inside)


@triton.jit
def _heavy_rows(
    gradient,
    gradient_stride,
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
    first_chunk,
    sharpness,
    softcap,
    HAS_SOFTCAP: tl.constexpr,
    SMOOTHED: tl.constexpr,
    WIDE: tl.constexpr,
    CHUNK: tl.constexpr,
    BLOCK: tl.constexpr,
):
    place = tl.program_id(0).to(tl.int64)
    chunk = first_chunk + tl.program_id(1)
    row = tl.load(rows + place)
    length = tl.load(lengths + chunk * positions + row)
    entries += row % lists * room + tl.load(starts + chunk * positions + row)
    gradient += place * gradient_stride + tl.program_id(1) * CHUNK
    for done in range(0, length, BLOCK):
        index = done + tl.arange(0, BLOCK)
        mask = index < length
        u, column = unpacked(tl.load(entries + index, mask=mask, other=0), WIDE)
        values = logit_gradient(
            u + tl.load(terms + positions + row),
            chunk * CHUNK + column,
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
        tl.store(gradient + column, values.to(gradient.dtype.element_ty), mask=mask)
