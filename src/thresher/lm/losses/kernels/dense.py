"""The margin loss from hidden states, with the gradients computed together with the loss.

Rows are processed some at a time: their logits are computed, replaced by their gradients, and
multiplied by the weight and by the inputs. Each logit is computed once, so there are three matrix
products instead of the four of an implementation that computes logits again for the gradients. This
needs the factor of each row's gradient before the backward pass, so it only serves sums of losses,
all of whose rows have the same factor. It is the fastest form if most tokens survive: with an
infinite margin, or before a model is trained. The formulas are those of `chunked`.
"""

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from thresher.lm.losses.argument_checks import LinearInputs
from thresher.lm.losses.kernels.plan import slices
from thresher.lm.losses.kernels.products import add_product
from thresher.lm.losses.options import MarginLossOptions
from thresher.lm.losses.survivors import thresholds

# Rows whose logits are in memory at once. Each time, the sums of the weight's gradient are read and
# written, which takes a sixth of the time of a matrix product with this many rows.
ROWS_AT_ONCE = 4096
LOGITS_ELEMENTS = 2**30  # logits in memory at once: at most 2 GiB in half precision
_ROW_MULTIPLE = 128  # matrix products are slower with other numbers of rows


def loss_sum(inputs: LinearInputs, options: MarginLossOptions) -> tuple[Tensor, Tensor]:
    """Return the sum of all rows' losses, and the losses themselves, which have no gradient.

    On a GPU the products are in the wider dtype of both factors, or in that of autocast, and
    sums in float32; elsewhere both are in float32, or in float64 if an input is.

    returns: () and (positions,), float32 or float64
    """
    input, weight, target = inputs.input, inputs.weight, inputs.target
    ignored = target == options.ignore_index
    known = ~ignored & (target >= 0) & (target < len(weight))
    margin = options.margin
    if not isinstance(margin, Tensor):
        margin = torch.full((), margin, device=input.device)
    total, rows = _LossSum.apply(  # type: ignore[no-untyped-call]
        input,
        weight,
        inputs.bias,
        target.where(known, -1).int(),
        margin.to(input.device, torch.promote_types(margin.dtype, torch.float32)),
        inputs.class_weight,
        options,
        _product_dtype(input, weight),
    )
    unknown = ~known & ~ignored  # a target outside the vocabulary: NaN, as in `sparse`
    total = total.masked_fill(unknown.any(), math.nan)
    return total, rows.masked_fill(unknown, math.nan)


def _product_dtype(input: Tensor, weight: Tensor) -> torch.dtype:
    dtype = torch.promote_types(input.dtype, weight.dtype)
    if not input.is_cuda:
        return torch.promote_types(dtype, torch.float32)
    if torch.is_autocast_enabled("cuda"):
        return torch.get_autocast_dtype("cuda")
    return dtype


class _LossSum(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        target: Tensor,
        margin: Tensor,
        class_weight: Tensor | None,
        options: MarginLossOptions,
        dtype: torch.dtype,
    ) -> tuple[Tensor, Tensor]:
        needs = list(ctx.needs_input_grad[:3])
        numbers = options.temperature, options.softcap, options.label_smoothing, options.z_loss
        rows, *gradients = _losses_and_gradients(
            input, weight, bias, target, margin, class_weight, *numbers, dtype, needs
        )
        ctx.save_for_backward(*gradients)
        ctx.needs = needs
        ctx.dtypes = [None if each is None else each.dtype for each in (input, weight, bias)]
        ctx.mark_non_differentiable(rows)
        return rows.sum(), rows

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_sum: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        grads = [
            torch.mul(grad, grad_sum, out=torch.empty_like(grad, dtype=dtype)) if need else None
            for grad, need, dtype in zip(ctx.saved_tensors, ctx.needs, ctx.dtypes, strict=True)
        ]
        return *grads, *[None] * 5


@torch.library.custom_op("thresher::losses_and_gradients", mutates_args=())
def _losses_and_gradients(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    target: Tensor,
    margin: Tensor,
    class_weight: Tensor | None,
    temperature: float,
    softcap: float | None,
    label_smoothing: float,
    z_loss: float,
    dtype: torch.dtype,
    needs: list[bool],
) -> list[Tensor]:
    """Return the losses, and the gradients of their sum for input, weight and bias.

    A gradient that is not needed is an empty tensor.
    """
    options = MarginLossOptions(
        margin=margin,
        temperature=temperature,
        softcap=softcap,
        label_smoothing=label_smoothing,
        z_loss=z_loss,
    )
    results = losses, grad_input, grad_weight, grad_bias = _allocate(input, weight, dtype, needs)
    rows = slices(len(input), _rows_at_once(input, weight, needs_weight=needs[1]))
    with torch.autocast(input.device.type, enabled=False):
        input, weight = input.to(dtype), weight.to(dtype)
        bias = None if bias is None else bias.to(dtype)
        for some in rows:
            logits = functional.linear(input[some], weight, bias)
            _replace_by_gradients(
                logits,
                target[some],
                class_weight,
                losses[some],
                options.for_positions(some),
                gradient=any(needs),
            )
            if needs[0]:
                torch.mm(logits, weight, out=grad_input[some])
            if needs[1]:
                add_product(grad_weight, logits.T, input[some])
            if needs[2]:
                grad_bias += logits.sum(0, dtype=losses.dtype)
    return results


@_losses_and_gradients.register_fake
def _(*arguments: Any) -> list[Tensor]:
    input, weight, dtype, needs = *arguments[:2], *arguments[-2:]
    return _allocate(input, weight, dtype, needs)


def _allocate(input: Tensor, weight: Tensor, dtype: torch.dtype, needs: list[bool]) -> list[Tensor]:
    """Return tensors for the losses and the gradients; a gradient that is not needed is empty."""
    losses = input.new_zeros(len(input), dtype=torch.promote_types(dtype, torch.float32))
    at_once = _rows_at_once(input, weight, needs_weight=needs[1])
    sums = _weight_gradient_dtype(input, at_once, weight.dtype, dtype)
    return [
        losses,
        torch.empty_like(input if needs[0] else losses[:0], dtype=dtype),
        torch.zeros_like(weight if needs[1] else losses[:0], dtype=sums),
        losses.new_zeros(len(weight) if needs[2] else 0),
    ]


def _rows_at_once(input: Tensor, weight: Tensor, *, needs_weight: bool) -> int:
    """Return for how many rows logits are computed at once: equal parts of the input.

    All rows of a half-precision layer are computed at once if their logits take no more memory than
    the float32 sums of the weight's gradient, which are then not needed.
    """
    rows = max(1, min(ROWS_AT_ONCE, LOGITS_ELEMENTS // len(weight)))
    if needs_weight and weight.dtype.itemsize == 2 and len(input) <= 2 * weight.shape[1]:
        return max(1, len(input))
    parts = max(1, -(-len(input) // rows))
    equal = max(1, -(-len(input) // parts))
    return equal if parts == 1 else -(-equal // _ROW_MULTIPLE) * _ROW_MULTIPLE


def _weight_gradient_dtype(
    input: Tensor, at_once: int, weight_dtype: torch.dtype, dtype: torch.dtype
) -> torch.dtype:
    """Return the dtype of the weight's gradient: float32 or wider if it is added up."""
    single = at_once >= len(input) and weight_dtype == dtype
    return dtype if single else torch.promote_types(dtype, torch.float32)


def _replace_by_gradients(
    logits: Tensor,
    target: Tensor,
    class_weight: Tensor | None,
    losses: Tensor,
    options: MarginLossOptions,
    *,
    gradient: bool,
) -> None:
    """Write the rows' losses to `losses`, and replace the logits by their gradients on request."""
    row_weight = None
    if class_weight is not None:
        row_weight = class_weight[target.clamp(min=0)].to(losses.dtype)
    smooth_weights = class_weight is not None and options.label_smoothing > 0
    if logits.is_cuda and not smooth_weights and logits.dtype != torch.float64:
        from thresher.lm.losses.kernels import dense_kernels  # noqa: PLC0415 (an extra)

        assert isinstance(options.margin, Tensor)
        dense_kernels.replace_by_gradients(
            logits, target, options.margin, row_weight, losses, options, gradient=gradient
        )
        return
    for some in slices(len(logits), max(1, 2**24 // logits.shape[1])):
        rows, gradients = losses_in_torch(
            logits[some], target[some], class_weight, options.for_positions(some)
        )
        losses[some] = rows
        if gradient:
            logits[some] = gradients.to(logits.dtype)


def losses_in_torch(
    logits: Tensor, target: Tensor, class_weight: Tensor | None, options: MarginLossOptions
) -> tuple[Tensor, Tensor]:
    """Return the losses of rows and the gradients of their logits, as the kernel computes them.

    logits: (rows, vocabulary)   target: (rows,), negative where ignored
    """
    z = options.scale(logits.to(torch.promote_types(logits.dtype, torch.float32)))
    known, index = (target >= 0)[:, None], target.clamp(min=0).long()[:, None]
    weights = z.new_ones(z.shape[1]) if class_weight is None else class_weight.to(z.dtype)
    z_target = z.gather(1, index)
    margin = options.margin
    if isinstance(margin, Tensor) and margin.dim():
        margin = margin[:, None]
    dead = z < thresholds(z_target, margin)
    lse = z.masked_fill(dead, -math.inf).logsumexp(1, keepdim=True)
    smoothing, weight = options.label_smoothing, weights[index]
    own = (1 - smoothing) * weight
    even = smoothing / (~dead).sum(1, keepdim=True).to(z.dtype)
    pull = own + even * ((~dead).to(z.dtype) @ weights)[:, None]
    spread = (z.masked_fill(dead, 0) @ weights)[:, None]
    losses = pull * lse - own * z_target - even * spread + options.z_loss * weight * lse.square()
    pull = pull + 2 * options.z_loss * weight * lse
    gradients = pull * (z - lse).exp() - even * weights
    gradients.scatter_add_(1, index, -own)
    gradients = (gradients * options.slope(z)).masked_fill_(dead | ~known, 0)
    return losses.masked_fill(~known, 0)[:, 0], gradients
