"""The margin loss from hidden states in plain torch, one tile of the vocabulary at a time.

At most (positions, tile) logits exist at once. The forward pass keeps a few numbers for each
position; the backward pass computes each tile again and turns it into gradients immediately. Tiles
run over the vocabulary rather than over positions because then each row of the weight's gradient is
finished within one tile, and half precision needs no float32 copy of that gradient.

With S the survivors of a row, K their number, w the class weights and ε the label smoothing:

    loss = pull·lse − own·z_target − even·Σ_S w_j·z_j        lse = log Σ_S exp z_j
    own = (1 − ε)·w_target,   even = ε / K,   pull = own + even·Σ_S w_j
    ∂loss/∂z_j = pull·p_j − own·[j = target] − even·w_j      for j in S, otherwise 0

A z-loss of weight ζ adds ζ·w_target·lse² to the loss and 2·ζ·w_target·lse to the pull.
"""

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from thresher.lm.losses.argument_checks import LinearInputs
from thresher.lm.losses.options import MarginLossOptions
from thresher.lm.losses.survivors import thresholds

TILE_ELEMENTS = 2**22  # logits in memory at once: 16 MiB of float32, and a few such tensors


def row_losses(inputs: LinearInputs, options: MarginLossOptions) -> Tensor:
    """Equal to `selfish_cross_entropy(input @ weight.T + bias, target, reduction="none", …)`.

    Products and sums are in float32, or in float64 if an input is. Gradients reach input, weight
    and bias.

    returns: (positions,), float32 or float64
    """
    weight, class_weight = inputs.weight, inputs.class_weight
    ignored = inputs.target == options.ignore_index
    if class_weight is None:
        class_weight = torch.ones(weight.shape[0], device=weight.device)
    rows: Tensor = _RowLosses.apply(  # type: ignore[no-untyped-call]
        inputs.input,
        weight,
        inputs.bias,
        inputs.target.masked_fill(ignored, 0),
        class_weight,
        options,
        TILE_ELEMENTS,
    )
    return rows.masked_fill(ignored, 0)


class _Logits:
    """Scaled logits, computed one tile at a time whenever they are needed."""

    def __init__(
        self,
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        target: Tensor,
        options: MarginLossOptions,
    ) -> None:
        dtype = torch.promote_types(input.dtype, weight.dtype)
        self.input = input.to(torch.promote_types(dtype, torch.float32))
        self.weight = weight
        self.bias = bias
        self.target = target
        self.options = options

    def of_target(self) -> Tensor:
        """Return z_target: (positions,)."""
        logit = (self.input * self.weight_rows(self.target)).sum(-1)
        logit = logit if self.bias is None else logit + self.bias[self.target]
        return self.options.scale(logit)

    def tile(self, columns: slice, z_target: Tensor, threshold: Tensor) -> tuple[Tensor, Tensor]:
        """Return z, and whether it is below the threshold: (positions, columns) each.

        A matrix product may round differently from the sum that gave `z_target`. The target's own
        logit is replaced by it, so that the target survives any margin and has a probability of at
        most one.
        """
        logit = self.input @ self.weight_rows(columns).T
        z = self.options.scale(logit if self.bias is None else logit + self.bias[columns])
        index, inside = self.targets_within(columns)
        z = z.scatter_(1, index, torch.where(inside, z_target[:, None], z.gather(1, index)))
        return z, z < threshold[:, None]

    def targets_within(self, columns: slice) -> tuple[Tensor, Tensor]:
        """Return the target's index within the tile, and whether it is inside: (positions, 1)."""
        target = self.target[:, None]
        inside = (target >= columns.start) & (target < columns.stop)
        return (target - columns.start).masked_fill(~inside, 0), inside

    def weight_rows(self, tokens: slice | Tensor) -> Tensor:
        """Return rows of the weight in the dtype of the sums."""
        return self.weight[tokens].to(self.input.dtype)

    def tiles(self, tile_elements: int) -> list[slice]:
        """Split the vocabulary into tiles of about `tile_elements` logits."""
        vocabulary = self.weight.shape[0]
        step = max(1, tile_elements // max(1, self.input.shape[0]))
        return [slice(i, min(i + step, vocabulary)) for i in range(0, vocabulary, step)]


class _RowLosses(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        target: Tensor,
        class_weight: Tensor,
        options: MarginLossOptions,
        tile_elements: int,
    ) -> Tensor:
        smoothing = options.label_smoothing
        with torch.autocast(input.device.type, enabled=False):
            logits = _Logits(input, weight, bias, target, options)
            z_target = logits.of_target()
            threshold = thresholds(z_target, options.margin)
            class_weight = class_weight.to(z_target.dtype)
            lse = torch.full_like(z_target, -math.inf)
            count, weights, weighted = (torch.zeros_like(z_target) for _ in range(3))
            for columns in logits.tiles(tile_elements):
                z, dead = logits.tile(columns, z_target, threshold)
                lse = lse.logaddexp(z.masked_fill(dead, -math.inf).logsumexp(1))
                if smoothing:
                    count += (~dead).sum(1)
                    weights += (~dead).to(z.dtype) @ class_weight[columns]
                    weighted += z.masked_fill(dead, 0) @ class_weight[columns]
            own = (1 - smoothing) * class_weight[target]
            even = smoothing / count if smoothing else count
            pull = own + even * weights
            rows = pull * lse - own * z_target - even * weighted
            if options.z_loss:
                lift = options.z_loss * class_weight[target] * lse
                rows, pull = rows + lift * lse, pull + 2 * lift
        ctx.save_for_backward(
            input, weight, bias, target, class_weight, z_target, threshold, lse, own, even, pull
        )
        ctx.options = options
        ctx.tile_elements = tile_elements
        return rows

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_rows: Tensor) -> tuple[Tensor | None, ...]:
        input, weight, bias, target, class_weight, z_target, threshold, lse, *rest = (
            ctx.saved_tensors
        )
        own, even, pull = ((grad_rows * part)[:, None] for part in rest)
        needs_input, needs_weight, needs_bias = ctx.needs_input_grad[:3]
        with torch.autocast(input.device.type, enabled=False):
            logits = _Logits(input, weight, bias, target, ctx.options)
            grad_input = torch.zeros_like(logits.input) if needs_input else None
            grad_weight = torch.empty_like(weight) if needs_weight else None
            grad_bias = torch.empty_like(bias) if needs_bias else None
            for columns in logits.tiles(ctx.tile_elements):
                z, dead = logits.tile(columns, z_target, threshold)
                grad = pull * (z - lse[:, None]).exp_()
                index, inside = logits.targets_within(columns)
                grad.scatter_(1, index, grad.gather(1, index) - own * inside)
                if ctx.options.label_smoothing:
                    grad -= even * class_weight[columns]
                grad = grad.mul_(ctx.options.slope(z)).masked_fill_(dead, 0)
                if grad_input is not None:
                    grad_input += grad @ logits.weight_rows(columns)
                if grad_weight is not None:
                    grad_weight[columns] = (grad.T @ logits.input).to(weight.dtype)
                if grad_bias is not None:
                    grad_bias[columns] = grad.sum(0).to(grad_bias.dtype)
        grad_input = None if grad_input is None else grad_input.to(input.dtype)
        return grad_input, grad_weight, grad_bias, *[None] * 4
