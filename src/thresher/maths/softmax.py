"""The softmax with a temperature, defined at both of its limits.

It is monotone in each logit; unchanged by a constant added to all of them (so parameters θ and
θ − ψ describe the same model) but not by scaling; a distribution ever nearer to the argmax as
the temperature falls and to the uniform one as it rises.
"""

import math

import torch
from torch import Tensor


def softmax(logits: Tensor, *, temperature: float = 1.0, dim: int = -1) -> Tensor:
    """σ(z / T)_l = exp(z_l / T) / Σ_j exp(z_j / T).

    T = 0 is the limit from above: all of the mass on the largest logit, shared equally by exact
    ties, and no gradient. T = ∞ is uniform over the logits that are not −∞.

    logits: (…, classes, …)   returns: the same shape and dtype
    """
    return torch.softmax(_over_temperature(logits, temperature, dim), dim).to(logits.dtype)


def log_softmax(logits: Tensor, *, temperature: float = 1.0, dim: int = -1) -> Tensor:
    """log σ(z / T), finite wherever σ would underflow; −∞ only where the probability is zero.

    logits: (…, classes, …)   returns: the same shape and dtype
    """
    return torch.log_softmax(_over_temperature(logits, temperature, dim), dim).to(logits.dtype)


def _over_temperature(logits: Tensor, temperature: float, dim: int) -> Tensor:
    """(z − max z) / T in at least float32: the softmax is unchanged and nothing overflows."""
    if not logits.is_floating_point():
        raise TypeError(f"logits must be a floating-point tensor, got {logits.dtype}")
    if not temperature >= 0:
        raise ValueError(f"temperature must be at least 0 (inf is allowed), got {temperature}")
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    limits = torch.finfo(logits.dtype)
    if temperature > limits.max:
        return torch.zeros_like(logits).masked_fill(logits == -math.inf, -math.inf)
    below_peak = logits - logits.detach().amax(dim, keepdim=True)
    if temperature < limits.tiny:
        return torch.zeros_like(logits).masked_fill(below_peak < 0, -math.inf)
    return below_peak / temperature
