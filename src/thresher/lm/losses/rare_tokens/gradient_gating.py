"""Adaptive gradient gating: a rare token is hardly pushed by others' contexts (Yu et al. 2022).

Of the gradient that an output embedding receives, one part comes from positions where its token is
the target and pulls it closer; the rest comes from all other positions and pushes it away. For a
rare token the push is nearly everything. Here it is scaled down, the more so the rarer the token.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


@dataclass(frozen=True)
class GradientGates:
    """How much of the push a token feels: all (1) if it is not rare.

    rare: (vocabulary,), bool   by_common, by_rare: (vocabulary,), in [0, 1], the share that gets
    through at positions where the target is a common or a rare token
    """

    rare: Tensor
    by_common: Tensor
    by_rare: Tensor


def gradient_gates(rate: Tensor, *, threshold: float = 0.02) -> GradientGates:
    """A token seen less than `threshold` times a step is rare.

    It feels its rate of the push where the target is common, and min(rate / mean rate of the rare,
    1) of it where the target is rare too, so that only the very rare are spared there.

    rate: (vocabulary,), how often each token was a target, for one step of training
    """
    rare = rate < threshold
    mean = rate[rare].mean() if bool(rare.any()) else rate.new_ones(())
    among_rare = (rate / mean.clamp(min=torch.finfo(rate.dtype).tiny)).clamp(max=1)
    common = torch.ones_like(rate)
    return GradientGates(
        rare=rare,
        by_common=torch.where(rare, rate, common),
        by_rare=torch.where(rare, among_rare, common),
    )


def gated_linear(hidden: Tensor, weight: Tensor, target: Tensor, gates: GradientGates) -> Tensor:
    """hidden @ weight.T, with the weight's gradient gated wherever a token is not the target.

    ∂L/∂w_j = Σ_i γ_ij·(∂L/∂z_ij)·h_i; γ_ij is 1 if j is the target of i, otherwise j's gate by the
    kind of that target. The gradient for hidden is untouched.

    hidden: (rows, width)   weight: (vocabulary, width)   target: (rows,); rows whose target is no
    token are taken to have a common one   returns: (rows, vocabulary)
    """
    logits: Tensor = _GatedLinear.apply(  # type: ignore[no-untyped-call]
        hidden, weight, target, gates.rare, gates.by_common, gates.by_rare
    )
    return logits


class _GatedLinear(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        target: Tensor,
        rare: Tensor,
        by_common: Tensor,
        by_rare: Tensor,
    ) -> Tensor:
        ctx.save_for_backward(hidden, weight, target, rare, by_common, by_rare)
        return hidden @ weight.T

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        hidden, weight, target, rare, by_common, by_rare = ctx.saved_tensors
        grad = grad.to(weight.dtype)  # under autocast the product was in half precision
        grad_hidden = (grad @ weight).to(hidden.dtype) if ctx.needs_input_grad[0] else None
        grad_weight = None
        if ctx.needs_input_grad[1]:
            is_token = (target >= 0) & (target < len(weight))
            index = target.masked_fill(~is_token, 0)[:, None]
            gate = torch.where(rare[index] & is_token[:, None], by_rare, by_common)
            gate = gate.to(grad.dtype).scatter(1, index, 1)
            grad_weight = (grad * gate).T @ hidden.to(grad.dtype)
        return grad_hidden, grad_weight, *[None] * 4
