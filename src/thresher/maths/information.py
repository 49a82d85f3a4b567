"""Entropy, cross-entropy, KL divergence and related quantities of distributions in tensors.

A distribution sums to one along `dim`. The unit is bits; `base` chooses another one (`math.e` for
nats). By convention 0·log 0 = 0, so an impossible outcome adds nothing, and its gradient is zero
instead of infinite.
"""

import math

import torch
from torch import Tensor


def surprisal(p: Tensor, *, base: float = 2.0) -> Tensor:
    """Return −log p of each probability; infinite for p = 0.

    p: any shape, in [0, 1]   returns: the shape of p
    """
    _check_probabilities(p, "p")
    return -p.log() / _unit(base)


def entropy(p: Tensor, *, dim: int = -1, base: float = 2.0) -> Tensor:
    """Return H(p) = −Σ p·log p, the shortest average code length for outcomes of p.

    p: (…, outcomes, …)   returns: that shape without `dim`
    """
    _check_distribution(p, "p", dim)
    return _expected_surprisal(p, p).sum(dim) / _unit(base)


def cross_entropy(p: Tensor, q: Tensor, *, dim: int = -1, base: float = 2.0) -> Tensor:
    """Return H(p, q) = −Σ p·log q ≥ H(p), the average code length for outcomes of p with q's code.

    Infinite if an outcome is possible under p but not under q.

    p, q: (…, outcomes, …), broadcast together   returns: that shape without `dim`
    """
    p, q = _check_pair(p, q, dim)
    return _expected_surprisal(p, q).sum(dim) / _unit(base)


def binary_cross_entropy(y: Tensor, p: Tensor, *, base: float = 2.0) -> Tensor:
    """Return −y·log p − (1 − y)·log(1 − p), the `cross_entropy` of (y, 1 − y) and (p, 1 − p).

    y, p: any shapes that broadcast, in [0, 1]   returns: the broadcast shape
    """
    _check_probabilities(y, "y")
    _check_probabilities(p, "p")
    terms = _expected_surprisal(y, p) + _expected_surprisal(1 - y, 1 - p)
    return terms / _unit(base)


def kullback_leibler(p: Tensor, q: Tensor, *, dim: int = -1, base: float = 2.0) -> Tensor:
    """Return KL(p ‖ q) = Σ p·log(p / q) = H(p, q) − H(p) ≥ 0, computed as the sum.

    p, q: (…, outcomes, …), broadcast together   returns: that shape without `dim`
    """
    p, q = _check_pair(p, q, dim)
    possible = p > 0
    log_ratio = torch.where(possible, p, 1).log() - torch.where(possible, q, 1).log()
    return (p * log_ratio).sum(dim) / _unit(base)


def renyi_entropy(p: Tensor, *, alpha: float, dim: int = -1, base: float = 2.0) -> Tensor:
    """Return H_α(p) = log(Σ p^α) / (1 − α), which does not increase with α.

    α = 0 gives the log of the number of possible outcomes, α → 1 Shannon's `entropy`, and α = ∞
    −log max p.

    p: (…, outcomes, …)   returns: that shape without `dim`
    """
    _check_distribution(p, "p", dim)
    if not alpha >= 0:
        raise ValueError(f"`alpha` must be at least 0 (math.inf is allowed), got {alpha}")
    if alpha == 1:
        return entropy(p, dim=dim, base=base)
    if alpha == math.inf:
        return -p.amax(dim).log() / _unit(base)
    return _log_power_sum(p, alpha, dim) / ((1 - alpha) * _unit(base))


def renyi_efficiency(p: Tensor, *, alpha: float, dim: int = -1) -> Tensor:
    """Return H_α(p) / log V in [0, 1]; it is 1 if all V outcomes are equally frequent.

    p: (…, V, …) with V ≥ 2   returns: that shape without `dim`
    """
    outcomes = p.shape[dim] if p.dim() else 1
    if outcomes < 2:
        raise ValueError(f"`p` needs at least 2 outcomes along dim, got {outcomes}")
    return renyi_entropy(p, alpha=alpha, dim=dim, base=outcomes)


def perplexity(cross_entropy: Tensor, *, base: float = 2.0) -> Tensor:
    """Return base^H, the number of equally likely outcomes that would have the same entropy.

    base: the unit of H, 2 for bits, `math.e` for nats

    cross_entropy: any shape   returns: the same shape
    """
    return (cross_entropy * _unit(base)).exp()


def language_entropy(log_prob: Tensor, *, base: float = 2.0) -> Tensor:
    """Return H(L) = −Σ p(w₁…w_M)·log p(w₁…w_M) over all sequences of an enumerable language.

    log_prob: (sequences,), natural logarithms; their exponentials sum to one   returns: ()
    """
    p = log_prob.exp()
    _check_distribution(p, "exp(log_prob)", -1)
    return -(p * log_prob.masked_fill(p == 0, 0)).sum() / _unit(base)


def cross_entropy_rate(log_prob: Tensor, lengths: Tensor, *, base: float = 2.0) -> Tensor:
    """Return H(W) = −Σᵢ log p(Sᵢ) / Σᵢ Mᵢ, the cross-entropy of a language model per unit of text.

    The unit is what `lengths` counts: tokens, words, characters or bytes. The `perplexity` of the
    result is that of the model.

    log_prob: (sequences,), natural logarithms   lengths: (sequences,)   returns: ()
    """
    if log_prob.shape != lengths.shape:
        shapes = f"{tuple(log_prob.shape)} and {tuple(lengths.shape)}"
        raise ValueError(f"`log_prob` and `lengths` must have the same shape, got {shapes}")
    if not bool((log_prob <= _tolerance(log_prob)).all()):
        largest = log_prob.max().item()
        raise ValueError(f"`log_prob` must be at most 0, got {largest}")
    if not bool((lengths >= 0).all()) or not bool(lengths.sum() > 0):
        raise ValueError(f"`lengths` must be at least 0 and not all 0, got {lengths.tolist()}")
    return -log_prob.sum() / (lengths.sum() * _unit(base))


def bits_per_byte(log_prob: Tensor, byte_counts: Tensor) -> Tensor:
    """Return the `cross_entropy_rate` in bits per byte, comparable across tokenizers.

    log_prob: (sequences,), natural logarithms   byte_counts: (sequences,)   returns: ()
    """
    return cross_entropy_rate(log_prob, byte_counts, base=2.0)


def _expected_surprisal(p: Tensor, q: Tensor) -> Tensor:
    """Return −p·log q elementwise, with 0·log 0 = 0 in value and in gradient."""
    return -p * torch.where((p == 0) & (q == 0), 1, q).log()


def _log_power_sum(p: Tensor, alpha: float, dim: int) -> Tensor:
    """Return log Σ p^α over the possible outcomes; accurate near α = 1, where it is 0."""
    log_p = torch.where(p > 0, p, 1).log()
    if abs(alpha - 1) < 0.1:
        # Σ p = 1, so Σ p^α = 1 + Σ p·(p^(α−1) − 1); log1p of that sum loses no digits.
        return (p * torch.expm1((alpha - 1) * log_p)).sum(dim).log1p()
    return (alpha * log_p).masked_fill(p == 0, -math.inf).logsumexp(dim)


def _unit(base: float) -> float:
    if not 1 < base < math.inf:
        raise ValueError(f"`base` must be above 1 and finite (2 for bits, e for nats), got {base}")
    return math.log(base)


def _tolerance(p: Tensor) -> float:
    """Return how much a sum may differ from 1: enough for a softmax over a large vocabulary."""
    return max(1e-4, 8 * torch.finfo(p.dtype).eps)


def _check_pair(p: Tensor, q: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    # Broadcast before checking: (1,) broadcast to (5,) is not a distribution.
    shape = (p + q).shape
    p, q = p.expand(shape), q.expand(shape)
    _check_distribution(p, "p", dim)
    _check_distribution(q, "q", dim)
    return p, q


def _check_distribution(p: Tensor, name: str, dim: int) -> None:
    _check_values(p, name, p >= 0, "must not be negative")
    total = p.sum(dim)
    invalid = (total - 1).abs() > _tolerance(p)
    if bool(invalid.any()):
        value, allowed = total[invalid][0].item(), _tolerance(p)
        raise ValueError(f"`{name}` must sum to 1 ± {allowed:g} along dim {dim}, got {value}")


def _check_probabilities(p: Tensor, name: str) -> None:
    _check_values(p, name, (p >= 0) & (p <= 1), "must be between 0 and 1")


def _check_values(p: Tensor, name: str, allowed: Tensor, rule: str) -> None:
    if not p.is_floating_point():
        raise TypeError(f"`{name}` must be a floating-point tensor, got {p.dtype}")
    if not bool(allowed.all()):  # NaN compares false, so it is never allowed
        raise ValueError(f"`{name}` {rule}, got {p[~allowed][0].item()}")
