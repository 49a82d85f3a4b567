"""Logarithms of complements, exact where the plain formulas round to 0 or −inf.

A probability p is held here as log p or, where p may also come very close to 1, as its
*double logarithm* ℓ(p) = log(−log p), any real number. In it a power is a shift,
ℓ(pᶜ) = ℓ(p) + log c, so that distributions made of powers and complements need no more than these
three functions. Each is elementwise, keeps shape and dtype, and has finite gradients wherever its
value is finite.
"""

import math

import torch
from torch import Tensor

# Below this ℓ, y = e^ℓ is so small that (1 − e^−y)/y is 1 to double precision.
_FLAT_BELOW = -40.0
# Above this ℓ, p = exp(−e^ℓ) < 2e-9, and −log(1 − p) = p(1 + p/2) to double precision.
_TAIL_ABOVE = 3.0


def log1mexp(x: Tensor) -> Tensor:
    """log(1 − eˣ) for x ≤ 0, by whichever of two equal forms keeps its digits."""
    # Each branch sees only its own side: an infinite slope in the unused one would become NaN.
    near = torch.log(-torch.expm1(x.clamp(min=-math.log(2))))
    far = torch.log1p(-torch.exp(x.clamp(max=-math.log(2))))
    return torch.where(x > -math.log(2), near, far)


def log_complement(loglog: Tensor) -> Tensor:
    """log(1 − p) of ℓ(p): log(1 − exp(−exp ℓ)), also where p has long rounded to 1."""
    y = torch.exp(loglog.clamp(_FLAT_BELOW, 0.0))
    near = loglog + torch.log(-torch.expm1(-y) / y)
    far = torch.log1p(-torch.exp(-torch.exp(loglog.clamp(min=0.0))))
    return torch.where(loglog < 0, near, far)


def loglog_complement(loglog: Tensor) -> Tensor:
    """ℓ(1 − p) of ℓ(p): log(−log(1 − exp(−exp ℓ))). Its own inverse."""
    minus_log = torch.exp(loglog.clamp(min=_TAIL_ABOVE))
    tail = torch.exp(-minus_log) / 2 - minus_log
    direct = torch.log(-log_complement(loglog.clamp(max=_TAIL_ABOVE)))
    return torch.where(loglog > _TAIL_ABOVE, tail, direct)
