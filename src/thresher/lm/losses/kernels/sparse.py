"""The margin loss from hidden states with Triton: a gradient that touches survivors alone.

The formulas are those of `chunked`. Both passes are operators of their own, which torch.compile
takes as they are.
"""

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from thresher.lm.losses.kernels.backward import Needs, gradients
from thresher.lm.losses.kernels.plan import Plan
from thresher.lm.losses.kernels.recording import (
    Layer,
    Record,
    empty_record,
    record_survivors,
    target_logits,
)

PLAN = Plan()
DTYPES = (torch.float16, torch.bfloat16, torch.float32)


def row_losses(
    input: Tensor,
    weight: Tensor,
    target: Tensor,
    *,
    margin: float | Tensor,
    bias: Tensor | None = None,
    class_weight: Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    temperature: float = 1.0,
    softcap: float | None = None,
) -> Tensor:
    """`chunked.row_losses` for float16, bfloat16 and float32.

    Input and weight are multiplied in the more precise of their dtypes, or in autocast's. Sums are
    in float32, and so is the loss. Targets of a GPU are not looked at by the host: one that is no
    token makes its loss NaN.
    """
    ignored = target == ignore_index
    known = ~ignored & (target >= 0) & (target < len(weight))
    rows: Tensor = _RowLosses.apply(  # type: ignore[no-untyped-call]
        *factors(input, weight),
        None if bias is None else bias.float().contiguous(),
        target.where(known, -1).int(),
        margins(margin, input.device),
        None if class_weight is None else class_weight.float().contiguous(),
        label_smoothing,
        temperature,
        softcap,
        isinstance(margin, Tensor) or margin != math.inf,
    )
    return rows.masked_fill(~known, math.nan).masked_fill(ignored, 0)


def factors(input: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Both in the dtype in which they are multiplied, and contiguous."""
    dtype = torch.promote_types(input.dtype, weight.dtype)
    if torch.is_autocast_enabled(input.device.type):
        dtype = torch.get_autocast_dtype(input.device.type)
    if dtype not in DTYPES:
        allowed = ", ".join(str(each) for each in DTYPES)
        raise TypeError(f"input and weight must be multiplied in one of {allowed}, got {dtype}")
    return input.to(dtype).contiguous(), weight.to(dtype).contiguous()


def margins(margin: float | Tensor, device: torch.device) -> Tensor:
    """As the kernels take them: float32, () or (positions,)."""
    if isinstance(margin, Tensor):
        return margin.to(device, torch.float32)
    return torch.full((), margin, device=device)  # a copy from the host would be slower


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
        label_smoothing: float,
        temperature: float,
        softcap: float | None,
        recording: bool,
    ) -> Tensor:
        spread = class_weight if label_smoothing else None
        if label_smoothing and class_weight is None:
            spread = torch.ones(weight.shape[0], device=weight.device)
        layer = input, weight, bias, spread, target, temperature, softcap
        z_target, threshold, *fields = _record(*layer, margin, recording)
        record = Record(*fields)
        lse = record.lse.masked_fill(target < 0, 0)
        own, even = torch.ones_like(lse), torch.zeros_like(lse)
        if class_weight is not None:
            own = class_weight[target.clamp(min=0).long()]
        pull = own
        rows: Tensor = own * (lse - z_target)
        if label_smoothing:
            own = (1 - label_smoothing) * own
            even = label_smoothing / record.survivors.clamp(min=1)
            pull = own + even * record.weights
            rows = pull * lse - own * z_target - even * record.weighted
        terms = torch.stack([z_target, threshold, lse, pull, own, even])
        ctx.save_for_backward(input, weight, bias, spread, target, terms, *fields)
        ctx.scale = temperature, softcap
        return rows

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_rows: Tensor) -> tuple[Tensor | None, ...]:
        input, weight, bias, spread, target, terms, *record = ctx.saved_tensors
        layer = input, weight, bias, spread, target
        needs = list(ctx.needs_input_grad[:3])
        found = _gradients(*layer, *ctx.scale, record, terms, grad_rows, needs)
        grads = [grad if need else None for grad, need in zip(found, needs, strict=True)]
        return *grads, *[None] * 7


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
    """z_target, the threshold, and the fields of a `Record`."""
    layer = Layer(input, weight, bias, class_weight, target, temperature, softcap)
    z_target = target_logits(layer)
    threshold = z_target - margin
    record = record_survivors(layer, z_target, threshold, PLAN, recording=recording)
    return [z_target, threshold, *record]


@_record.register_fake
def _(
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
    layer = Layer(input, weight, bias, class_weight, target, temperature, softcap)
    row = input.new_empty(input.shape[0], dtype=torch.float32)
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
    """Of input, weight and bias; empty where it is not needed."""
    if not len(input):
        return [torch.zeros_like(each) for each in (input, weight, weight[:, 0])]
    layer = Layer(input, weight, bias, class_weight, target, temperature, softcap)
    found = gradients(layer, Record(*record), terms, grad_rows, PLAN, Needs(*needs))
    every = found.input, found.weight, found.bias
    return [terms.new_empty(0) if each is None else each for each in every]


@_gradients.register_fake
def _(
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
    given = zip((input, weight, bias), needs, strict=True)
    return [
        torch.empty_like(each) if need and each is not None else terms.new_empty(0)
        for each, need in given
    ]
