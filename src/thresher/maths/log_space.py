"""Logarithms of complements, accurate where the plain formulas round to 0 or −inf.

A probability p is represented by log p or, if it may also be very close to 1, by its *double
logarithm* ℓ(p) = log(−log p), which can be any real number. A power then is a sum,
ℓ(pᶜ) = ℓ(p) + log c, so these three functions suffice for distributions made of powers and
complements. Each is elementwise, keeps shape and dtype, and has finite gradients if its value is
finite.
"""

import math

import torch
from torch import Tensor

# Below this ℓ, y = e^ℓ is so small that (1 − e^−y)/y is 1 to double precision.
_FLAT_BELOW = -40.0
# Above this ℓ, p = exp(−e^ℓ) < 2e-9, and −log(1 − p) = p(1 + p/2) to double precision.
_TAIL_ABOVE = 3.0


def log1mexp(x: Tensor) -> Tensor:
    """Return log(1 − eˣ) for x ≤ 0, by the more accurate of two equal forms."""
    # Both branches are clamped to their side: an infinite slope of the unused one would give NaN.
    near = torch.log(-torch.expm1(x.clamp(min=-math.log(2))))
    far = torch.log1p(-torch.exp(x.clamp(max=-math.log(2))))
    return torch.where(x > -math.log(2), near, far)


def log_complement(loglog: Tensor) -> Tensor:
    """Return log(1 − p) for ℓ(p): log(1 − exp(−exp ℓ)), even if p rounds to 1."""
    y = torch.exp(loglog.clamp(_FLAT_BELOW, 0.0))
    near = loglog + torch.log(-torch.expm1(-y) / y)
    far = torch.log1p(-torch.exp(-torch.exp(loglog.clamp(min=0.0))))
    return torch.where(loglog < 0, near, far)


def loglog_complement(loglog: Tensor) -> Tensor:
    """Return ℓ(1 − p) for ℓ(p): log(−log(1 − exp(−exp ℓ))). This function is its own inverse."""
    minus_log = torch.exp(loglog.clamp(min=_TAIL_ABOVE))
    tail = torch.exp(-minus_log) / 2 - minus_log
    direct = torch.log(-log_complement(loglog.clamp(max=_TAIL_ABOVE)))
    return torch.where(loglog > _TAIL_ABOVE, tail, direct)
