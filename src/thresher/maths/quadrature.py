"""Fixed quadrature rules: integrals are weighted sums, so autograd can differentiate them."""

import math

import torch
from torch import Tensor

UNIT_NODES = 64
EXPONENTIAL_NODES = 96


def unit_interval_rule(like: Tensor, *, ndim: int) -> tuple[Tensor, Tensor]:
    """Return nodes and weights of Fejér's first rule: ∫₀¹ f(x) dx ≈ Σᵢ wᵢ f(xᵢ), without 0 and 1.

    Exact for polynomials of degree below 64. Both are tensors of shape (64, 1, …, 1) with
    `ndim` trailing ones, in the dtype and on the device of `like`.
    """
    n = UNIT_NODES
    angle = (torch.arange(n, dtype=torch.float64) + 0.5) * (math.pi / n)
    k = torch.arange(1, n // 2 + 1, dtype=torch.float64)
    weights = (1 - 2 * (torch.cos(2 * k * angle[:, None]) / (4 * k * k - 1)).sum(-1)) / n
    return _shaped((1 - torch.cos(angle)) / 2, like, ndim), _shaped(weights, like, ndim)


def exponential_rule(like: Tensor, *, ndim: int) -> tuple[Tensor, Tensor]:
    """Return log e of the nodes, and weights: ∫₀^∞ f(e) exp(−e) de ≈ Σᵢ wᵢ f(eᵢ).

    This is the trapezium rule after the double-exponential substitution e = exp(s − exp(−s)), with
    which the integrand and all its derivatives vanish at both ends: the rule stays accurate if f is
    singular like log e at 0, or grows like a power at ∞. Both are tensors of shape (96, 1, …, 1)
    with `ndim` trailing ones, in the dtype and on the device of `like`.
    """
    s = torch.linspace(-3.4, 3.5, EXPONENTIAL_NODES, dtype=torch.float64)
    log_node = s - torch.exp(-s)
    weights = (1 + torch.exp(-s)) * torch.exp(log_node - torch.exp(log_node))
    return _shaped(log_node, like, ndim), _shaped(weights / weights.sum(), like, ndim)


def _shaped(values: Tensor, like: Tensor, ndim: int) -> Tensor:
    return values.to(device=like.device, dtype=like.dtype).reshape(-1, *[1] * ndim)
