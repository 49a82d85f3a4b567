"""Softmax with a temperature, defined also for the temperatures 0 and ∞.

It increases with each logit. Adding a constant to all logits does not change it (so parameters θ
and θ − ψ describe the same model), but scaling does: a lower temperature brings it closer to the
argmax, a higher one closer to the uniform distribution.
"""

import math

import torch
from torch import Tensor


def softmax(logits: Tensor, *, temperature: float = 1.0, dim: int = -1) -> Tensor:
    """Return σ(z / T)_l = exp(z_l / T) / Σ_j exp(z_j / T).

    T = 0 is the limit from above: probability 1 for the largest logit, divided equally between
    exact ties, without a gradient. T = ∞ is uniform over the logits that are not −∞.

    logits: (…, classes, …)   returns: the same shape and dtype
    """
    return torch.softmax(_scale_logits(logits, temperature, dim), dim).to(logits.dtype)


def log_softmax(logits: Tensor, *, temperature: float = 1.0, dim: int = -1) -> Tensor:
    """Return log σ(z / T), finite even if σ underflows; −∞ only if the probability is exactly 0.

    logits: (…, classes, …)   returns: the same shape and dtype
    """
    return torch.log_softmax(_scale_logits(logits, temperature, dim), dim).to(logits.dtype)


def _scale_logits(logits: Tensor, temperature: float, dim: int) -> Tensor:
    """Return (z − max z) / T in at least float32: same softmax, without overflow."""
    if not logits.is_floating_point():
        raise TypeError(f"`logits` must be a floating-point tensor, got {logits.dtype}")
    if not temperature >= 0:
        raise ValueError(f"`temperature` must be at least 0 (inf is allowed), got {temperature}")
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    limits = torch.finfo(logits.dtype)
    if temperature > limits.max:
        return torch.zeros_like(logits).masked_fill(logits == -math.inf, -math.inf)
    below_peak = logits - logits.detach().amax(dim, keepdim=True)
    if temperature < limits.tiny:
        return torch.zeros_like(logits).masked_fill(below_peak < 0, -math.inf)
    return below_peak / temperature
