"""The margin loss from hidden states with Triton: gradients are computed from survivors alone.

The formulas are those of `chunked`. The forward and the backward pass are custom operators, so that
torch.compile does not trace into them.
"""

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from thresher.lm.losses.argument_checks import LinearInputs
from thresher.lm.losses.kernels.backward import Needs, gradients
from thresher.lm.losses.kernels.plan import Plan
from thresher.lm.losses.kernels.recording import (
    Layer,
    Record,
    empty_record,
    record_survivors,
    target_logits,
)
from thresher.lm.losses.options import LogitScaling, MarginLossOptions

PLAN = Plan()
DTYPES = (torch.float16, torch.bfloat16, torch.float32)


def row_losses(inputs: LinearInputs, options: MarginLossOptions) -> Tensor:
    """Compute `chunked.row_losses` for float16, bfloat16 and float32.

    Input and weight are multiplied in the more precise of their dtypes, or in that of autocast.
    Sums and the loss are in float32. Targets on a GPU are not checked by the host: the loss of one
    outside the vocabulary is NaN.
    """
    target, bias, class_weight = inputs.target, inputs.bias, inputs.class_weight
    ignored = target == options.ignore_index
    known = ~ignored & (target >= 0) & (target < len(inputs.weight))
    rows: Tensor = _RowLosses.apply(  # type: ignore[no-untyped-call]
        *factors(inputs.input, inputs.weight),
        None if bias is None else bias.float().contiguous(),
        target.where(known, -1).int(),
        margin_tensor(options.margin, inputs.input.device),
        None if class_weight is None else class_weight.float().contiguous(),
        options,
    )
    return rows.masked_fill(~known, math.nan).masked_fill(ignored, 0)


def factors(input: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return both in the dtype in which they are multiplied, and contiguous."""
    dtype = torch.promote_types(input.dtype, weight.dtype)
    if torch.is_autocast_enabled(input.device.type):
        dtype = torch.get_autocast_dtype(input.device.type)
    if dtype not in DTYPES:
        allowed = ", ".join(str(each) for each in DTYPES)
        raise TypeError(f"`input` and `weight` must be multiplied in one of {allowed}, got {dtype}")
    return input.to(dtype).contiguous(), weight.to(dtype).contiguous()


def margin_tensor(margin: float | Tensor, device: torch.device) -> Tensor:
    """Return the margin as a float32 tensor on the device: () or (positions,)."""
    if isinstance(margin, Tensor):
        return margin.to(device, torch.float32)
    return torch.full((), margin, device=device)  # faster than copying a number from the host


class _RowLosses(torch.autograd.Function):
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
    ) -> Tensor:
        smoothing = options.label_smoothing
        smoothing_weight = class_weight if smoothing else None
        if smoothing and class_weight is None:
            smoothing_weight = torch.ones(weight.shape[0], device=weight.device)
        layer = input, weight, bias, smoothing_weight, target
        scale = options.temperature, options.softcap
        recording = not options.has_infinite_margin
        z_target, threshold, *fields = _record(*layer, *scale, margin, recording)
        record = Record(*fields)
        lse = record.lse.masked_fill(target < 0, 0)
        own, even = torch.ones_like(lse), torch.zeros_like(lse)
        if class_weight is not None:
            own = class_weight[target.clamp(min=0).long()]
        pull, lift = own, options.z_loss * own * lse
        rows: Tensor = own * (lse - z_target)
        if smoothing:
            own = (1 - smoothing) * own
            even = smoothing / record.survivors.clamp(min=1)
            pull = own + even * record.weights
            rows = pull * lse - own * z_target - even * record.weighted
        if options.z_loss:
            rows, pull = rows + lift * lse, pull + 2 * lift
        terms = torch.stack([z_target, threshold, lse, pull, own, even])
        ctx.save_for_backward(*layer, terms, *fields)
        ctx.scale = scale
        return rows

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_rows: Tensor) -> tuple[Tensor | None, ...]:
        input, weight, bias, smoothing_weight, target, terms, *record = ctx.saved_tensors
        layer = input, weight, bias, smoothing_weight, target
        needs = list(ctx.needs_input_grad[:3])
        found = _gradients(*layer, *ctx.scale, record, terms, grad_rows, needs)
        grads = [grad if need else None for grad, need in zip(found, needs, strict=True)]
        return *grads, *[None] * 4


# A custom operator takes tensors and numbers, so the fields of a `Layer` are passed one by one.


@torch.library.custom_op("thresher::record_survivors", mutates_args=())
def _record(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    class_weight: Tensor | None,
    target: Tensor,
    temperature: float,
    softcap: float | None,
    margin: Tensor,
    recording: bool,
) -> list[Tensor]:
    """Return z_target, the threshold, and the fields of a `Record`."""
    layer = Layer(input, weight, bias, class_weight, target, LogitScaling(temperature, softcap))
    z_target = target_logits(layer)
    threshold = z_target - margin
    record = record_survivors(layer, z_target, threshold, PLAN, recording=recording)
    return [z_target, threshold, *record]


@_record.register_fake
def _(*arguments: Any) -> list[Tensor]:
    input, weight, bias, class_weight, target, temperature, softcap, _, recording = arguments
    layer = Layer(input, weight, bias, class_weight, target, LogitScaling(temperature, softcap))
    row = layer.input.new_empty(layer.input.shape[0], dtype=torch.float32)
    return [row, torch.empty_like(row), *empty_record(layer, PLAN, recording=recording)]


@torch.library.custom_op("thresher::survivor_gradients", mutates_args=())
def _gradients(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    class_weight: Tensor | None,
    target: Tensor,
    temperature: float,
    softcap: float | None,
    record: list[Tensor],
    terms: Tensor,
    grad_rows: Tensor,
    needs: list[bool],
) -> list[Tensor]:
    """Return the gradients of input, weight and bias; an empty tensor if one is not needed."""
    if not len(input):
        return [torch.zeros_like(each) for each in (input, weight, weight[:, 0])]
    layer = Layer(input, weight, bias, class_weight, target, LogitScaling(temperature, softcap))
    found = gradients(layer, Record(*record), terms, grad_rows, PLAN, Needs(*needs))
    all_gradients = found.input, found.weight, found.bias
    return [terms.new_empty(0) if each is None else each for each in all_gradients]


@_gradients.register_fake
def _(*arguments: Any) -> list[Tensor]:
    terms, needs = arguments[-3], arguments[-1]
    return [
        torch.empty_like(each) if need and each is not None else terms.new_empty(0)
        for each, need in zip(arguments[:3], needs, strict=True)
    ]
