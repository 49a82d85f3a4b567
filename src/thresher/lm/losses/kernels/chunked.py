"""The margin loss from hidden states in plain torch, one tile of the vocabulary at a time.

No more than (positions, tile) logits exist at once. The forward pass keeps a few numbers for each
position; the backward pass makes each tile again and turns it into gradients on the spot. Tiles run
over the vocabulary rather than over positions because then each row of the weight's gradient is
finished within one tile, and half precision needs no wide copy of that gradient.

With S the survivors of a row, K their number, w the class weights and ε the label smoothing:

    loss = pull·lse − own·z_target − even·Σ_S w_j·z_j        lse = log Σ_S exp z_j
    own = (1 − ε)·w_target,   even = ε / K,   pull = own + even·Σ_S w_j
    ∂loss/∂z_j = pull·p_j − own·[j = target] − even·w_j      for j in S, otherwise 0
"""

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from thresher.lm.losses.logit_scaling import scale_logits, scale_slope
from thresher.lm.losses.survivors import thresholds

TILE_ELEMENTS = 2**22  # logits alive at once: 16 MiB of float32, and a few such tensors


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
    """`selfish_cross_entropy(input @ weight.T + bias, target, reduction="none", …)`.

    Products and sums are in float32, or in float64 if an input is. Gradients reach input, weight
    and bias.

    input: (positions, width)   weight: (vocabulary, width)   bias, class_weight: (vocabulary,)
    target: (positions,)   margin: a number or (positions,)
    returns: (positions,), float32 or float64
    """
    ignored = target == ignore_index
    if class_weight is None:
        class_weight = torch.ones(weight.shape[0], device=weight.device)
    rows: Tensor = _RowLosses.apply(  # type: ignore[no-untyped-call]
        input,
        weight,
        bias,
        target.masked_fill(ignored, 0),
        margin,
        class_weight,
        label_smoothing,
        temperature,
        softcap,
        TILE_ELEMENTS,
    )
    return rows.masked_fill(ignored, 0)


class _Logits:
    """Scaled logits, made a tile at a time and as often as they are asked for."""

    def __init__(
        self,
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        target: Tensor,
        temperature: float,
        softcap: float | None,
    ) -> None:
        precise = torch.promote_types(input.dtype, weight.dtype)
        self.input = input.to(torch.promote_types(precise, torch.float32))
        self.weight = weight
        self.bias = bias
        self.target = target
        self.temperature = temperature
        self.softcap = softcap

    def of_target(self) -> Tensor:
        """z_target: (positions,)."""
        logit = (self.input * self.weight_rows(self.target)).sum(-1)
        return self._scaled(logit if self.bias is None else logit + self.bias[self.target])

    def tile(self, columns: slice, z_target: Tensor, threshold: Tensor) -> tuple[Tensor, Tensor]:
        """z, and where it is below the threshold: (positions, columns).

        A product may round another way than the sum that made `z_target`; the target's own logit is
        set to it, so that the target survives any margin and its probability is at most one.
        """
        logit = self.input @ self.weight_rows(columns).T
        z = self._scaled(logit if self.bias is None else logit + self.bias[columns])
        place, here = self.targets_within(columns)
        z = z.scatter_(1, place, torch.where(here, z_target[:, None], z.gather(1, place)))
        return z, z < threshold[:, None]

    def targets_within(self, columns: slice) -> tuple[Tensor, Tensor]:
        """Where in the tile the target is, and whether it is there at all: (positions, 1)."""
        target = self.target[:, None]
        here = (target >= columns.start) & (target < columns.stop)
        return (target - columns.start).masked_fill(~here, 0), here

    def slope(self, z: Tensor) -> Tensor | float:
        """∂z/∂(input @ weight.T): (positions, columns), or one number for all."""
        return scale_slope(z, temperature=self.temperature, softcap=self.softcap)

    def weight_rows(self, tokens: slice | Tensor) -> Tensor:
        """Rows of the weight, as precise as the sums."""
        return self.weight[tokens].to(self.input.dtype)

    def tiles(self, tile_elements: int) -> list[slice]:
        """Columns of the vocabulary, so many at a time that a tile has about `tile_elements`."""
        vocabulary = self.weight.shape[0]
        step = max(1, tile_elements // max(1, self.input.shape[0]))
        return [slice(i, min(i + step, vocabulary)) for i in range(0, vocabulary, step)]

    def _scaled(self, logit: Tensor) -> Tensor:
        return scale_logits(logit, temperature=self.temperature, softcap=self.softcap)


class _RowLosses(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        target: Tensor,
        margin: float | Tensor,
        class_weight: Tensor,
        label_smoothing: float,
        temperature: float,
        softcap: float | None,
        tile_elements: int,
    ) -> Tensor:
        with torch.autocast(input.device.type, enabled=False):
            logits = _Logits(input, weight, bias, target, temperature, softcap)
            z_target = logits.of_target()
            threshold = thresholds(z_target, margin)
            class_weight = class_weight.to(z_target.dtype)
            lse = torch.full_like(z_target, -math.inf)
            count, weights, weighted = (torch.zeros_like(z_target) for _ in range(3))
            for columns in logits.tiles(tile_elements):
                z, dead = logits.tile(columns, z_target, threshold)
                lse = lse.logaddexp(z.masked_fill(dead, -math.inf).logsumexp(1))
                if label_smoothing:
                    count += (~dead).sum(1)
                    weights += (~dead).to(z.dtype) @ class_weight[columns]
                    weighted += z.masked_fill(dead, 0) @ class_weight[columns]
            own = (1 - label_smoothing) * class_weight[target]
            even = label_smoothing / count if label_smoothing else count
            pull = own + even * weights
        ctx.save_for_backward(
            input, weight, bias, target, class_weight, z_target, threshold, lse, own, even, pull
        )
        ctx.label_smoothing = label_smoothing
        ctx.scale = temperature, softcap
        ctx.tile_elements = tile_elements
        return pull * lse - own * z_target - even * weighted

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_rows: Tensor) -> tuple[Tensor | None, ...]:
        input, weight, bias, target, class_weight, z_target, threshold, lse, *rest = (
            ctx.saved_tensors
        )
        own, even, pull = ((grad_rows * part)[:, None] for part in rest)
        needs_input, needs_weight, needs_bias = ctx.needs_input_grad[:3]
        with torch.autocast(input.device.type, enabled=False):
            logits = _Logits(input, weight, bias, target, *ctx.scale)
            grad_input = torch.zeros_like(logits.input) if needs_input else None
            grad_weight = torch.empty_like(weight) if needs_weight else None
            grad_bias = torch.empty_like(bias) if needs_bias else None
            for columns in logits.tiles(ctx.tile_elements):
                z, dead = logits.tile(columns, z_target, threshold)
                grad = pull * (z - lse[:, None]).exp_()
                place, here = logits.targets_within(columns)
                grad.scatter_(1, place, grad.gather(1, place) - own * here)
                if ctx.label_smoothing:
                    grad -= even * class_weight[columns]
                grad = grad.mul_(logits.slope(z)).masked_fill_(dead, 0)
                if grad_input is not None:
                    grad_input += grad @ logits.weight_rows(columns)
                if grad_weight is not None:
                    grad_weight[columns] = (grad.T @ logits.input).to(weight.dtype)
                if grad_bias is not None:
                    grad_bias[columns] = grad.sum(0).to(grad_bias.dtype)
        grad_input = None if grad_input is None else grad_input.to(input.dtype)
        return grad_input, grad_weight, grad_bias, *[None] * 7
