"""Methods that help rare tokens: logit adjustments, cosine regularisation, gating."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from thresher.lm.tokens.counts import unigram_distribution

MAX_RARENESS = 3.0  # tokens rarer than this are seen too seldom for calibrated probabilities
_BISECTIONS = 50


def logit_adjustment(frequencies: Tensor, *, tau: float = 1.0) -> Tensor:
    """Return τ·log p(w), to be added to the logits in training only (Menon et al. 2021).

    In training, the adjustment accounts for how frequent a token is, so that a rare token needs no
    lower logit than a frequent one. Without it, the model predicts as if all tokens were equally
    frequent (for τ = 1).

    frequencies: (vocabulary,), counts or relative frequencies   returns: (vocabulary,), float32
    """
    return (tau * unigram_distribution(frequencies, len(frequencies)).log()).float()


def rare_token_adjustment(frequencies: Tensor, *, budget: float) -> Tensor:
    """Return −τ·x(w), to be added to the logits in training only; x(w) says how rare a token is.

    x(w) = log(mean frequency / frequency of w), between 0 and `MAX_RARENESS`. Tokens that are more
    frequent than the mean are not adjusted, so only rare ones gain. Without the adjustment, the
    model predicts a rare token e^{τ·x(w)} times as likely as it is in the text, before all
    probabilities are normalised.

    τ is the largest number up to 1 that raises the loss over the text by at most `budget` nats. A
    calibrated model loses the mean over contexts of log Σ_w p(w | context)·e^{τ·x(w)}, less the
    mean of τ·x(w). Because the logarithm is concave, this is at most log Σ_w p(w)·e^{τ·x(w)} less
    the mean of τ·x(w), which grows with τ.

    frequencies: (vocabulary,), counts or relative frequencies   returns: (vocabulary,), float32
    """
    if not budget >= 0:
        raise ValueError(f"`budget` must be at least 0, got {budget}")
    p = unigram_distribution(frequencies, len(frequencies))
    rareness = -(p * len(p)).log().clamp(min=-MAX_RARENESS, max=0)

    def cost(tau: float) -> float:
        most = (p * (tau * rareness).exp()).sum().log() - tau * (p * rareness).sum()
        return most.item()

    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if cost(middle) <= budget else (low, middle)
    return (-low * rareness).float()


def cosine_regularisation(weight: Tensor) -> Tensor:
    """Return Σ_i Σ_{j≠i} cos(w_i, w_j) / V², a term to add to a loss with a small factor.

    It keeps embeddings from crowding into a narrow cone (Gao et al. 2019).
    The sum over all pairs equals ‖Σ ŵ‖² − Σ ‖ŵ‖², so it takes one pass over the embeddings.

    weight: (vocabulary, width)   returns: ()
    """
    unit = functional.normalize(weight, dim=-1)
    return (unit.sum(0).square().sum() - unit.square().sum()) / len(weight) ** 2


@dataclass(frozen=True)
class GradientGates:
    """The factors of the push gradient for each token: 1 for tokens that are not rare.

    rare: (vocabulary,), bool
    by_common, by_rare: (vocabulary,), in [0, 1], the factor at positions where the target is a
    common or a rare token
    """

    rare: Tensor
    by_common: Tensor
    by_rare: Tensor


def gradient_gates(rate: Tensor, *, threshold: float = 0.02) -> GradientGates:
    """Return the gates that follow from how often each token is a target.

    A token is rare if it is a target fewer than `threshold` times per step. Its gate is its rate
    where the target is common, and min(rate / mean rate of the rare, 1) where the target is rare
    too, so that only the rarest tokens are protected there.

    rate: (vocabulary,), the mean number of times per training step that a token is a target
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
    """Return hidden @ weight.T; the weight's gradient is gated where a token is not the target.

    Adaptive gradient gating (Yu et al. 2022): one part of the gradient of an output embedding comes
    from positions where its token is the target and pulls it closer; the rest comes from all other
    positions and pushes it away. For a rare token the push is nearly everything. Here it is
    multiplied by a gate that is smaller for rarer tokens.

    ∂L/∂w_j = Σ_i γ_ij·(∂L/∂z_ij)·h_i; γ_ij is 1 if j is the target of i, otherwise the gate of j
    for a common or rare target. The gradient of hidden is not changed.

    hidden: (rows, width)   weight: (vocabulary, width)
    target: (rows,); a target outside the vocabulary (an ignored one) counts as common
    returns: (rows, vocabulary)
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
