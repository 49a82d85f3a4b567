# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,untyped-decorator,assignment"
# ruff: noqa: N803, PLR0915
"""The Triton kernel of the dense implementation: one program for each row of logits."""

import triton
import triton.language as tl
from torch import Tensor

from thresher.lm.losses.kernels.entries import scaled
from thresher.lm.losses.options import MarginLossOptions

BLOCK, WARPS = 4096, 8
LOWEST = tl.constexpr(-1e30)  # of a maximum; -inf minus itself would be NaN


def replace_by_gradients(
    logits: Tensor,
    target: Tensor,
    margin: Tensor,
    row_weight: Tensor | None,
    losses: Tensor,
    options: MarginLossOptions,
    *,
    gradient: bool,
) -> None:
    """Write the loss of each row to `losses` and, on request, its gradient over the logits.

    logits: (rows, vocabulary), contiguous   target: (rows,), int32, negative where ignored
    margin: () or (rows,), float32   row_weight: (rows,), the class weight of the target, or None
    """
    rows, vocabulary = logits.shape
    _loss_kernel[(rows,)](
        logits,
        target,
        margin,
        target if row_weight is None else row_weight,
        losses,
        vocabulary,
        1 / options.temperature,
        1.0 if options.softcap is None else options.softcap,
        options.label_smoothing,
        options.z_loss,
        HAS_SOFTCAP=options.softcap is not None,
        ROW_MARGINS=bool(margin.dim()),
        WEIGHTED=row_weight is not None,
        SMOOTHED=options.label_smoothing > 0,
        GRADIENT=gradient,
        BLOCK=min(BLOCK, triton.next_power_of_2(vocabulary)),
        num_warps=WARPS,
    )


@triton.jit
def _loss_kernel(
    logits, target, margin, row_weight, losses, vocabulary, sharpness, softcap, smoothing, z_loss,
    HAS_SOFTCAP: tl.constexpr, ROW_MARGINS: tl.constexpr, WEIGHTED: tl.constexpr,
    SMOOTHED: tl.constexpr, GRADIENT: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Compute the loss of one row in one pass over its logits, and its gradient in a second."""
    row = tl.program_id(0).to(tl.int64)
    token = tl.load(target + row)
    logits += row * vocabulary
    lane = tl.arange(0, BLOCK)
    known = token >= 0
    weight = known.to(tl.float32)
    if WEIGHTED:
        weight = tl.where(known, tl.load(row_weight + row), 0.0)
    x_target = tl.load(logits + tl.maximum(token, 0)).to(tl.float32)
    z_target = scaled(x_target, sharpness, softcap, HAS_SOFTCAP)
    limit = z_target - tl.load(margin + row if ROW_MARGINS else margin)

    top = tl.full((BLOCK,), LOWEST, dtype=tl.float32)
    powers = tl.zeros((BLOCK,), dtype=tl.float32)
    counts = tl.zeros((BLOCK,), dtype=tl.float32)
    sums = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, vocabulary, BLOCK):
        inside = start + lane < vocabulary
        x = tl.load(logits + start + lane, mask=inside, other=0.0).to(tl.float32)
        z = scaled(x, sharpness, softcap, HAS_SOFTCAP)
        alive = inside & ~(z < limit)  # not z ≥ limit: NaN must reach the loss
        z = tl.where(alive, z, float("-inf"))
        higher = tl.maximum(top, z)
        powers = powers * tl.exp(top - higher) + tl.exp(z - higher)
        top = higher
        if SMOOTHED:
            counts += alive.to(tl.float32)
            sums += tl.where(alive, z, 0.0)
    highest = tl.max(top, 0)
    lse = highest + tl.log(tl.sum(powers * tl.exp(top - highest), 0))

    pull = weight
    even = 0.0
    loss = weight * (lse - z_target)
    if SMOOTHED:
        even = smoothing * weight / tl.sum(counts, 0)
        loss = weight * lse - (1 - smoothing) * weight * z_target - even * tl.sum(sums, 0)
    loss += weight * z_loss * lse * lse
    pull += 2 * weight * z_loss * lse
    own = (1 - smoothing) * weight
    tl.store(losses + row, tl.where(known, loss, 0.0))

    if GRADIENT:
        for start in range(0, vocabulary, BLOCK):
            column = start + lane
            inside = column < vocabulary
            x = tl.load(logits + column, mask=inside, other=0.0).to(tl.float32)
            z = scaled(x, sharpness, softcap, HAS_SOFTCAP)
            grad = pull * tl.exp(z - lse) - even
            grad -= tl.where(column == token, own, 0.0)
            if HAS_SOFTCAP:
                part = z / (sharpness * softcap)
                grad *= 1 - part * part
            grad = tl.where((z < limit) | ~known, 0.0, grad * sharpness)
            tl.store(logits + column, grad.to(logits.dtype.element_ty), mask=inside)
