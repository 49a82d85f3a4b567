"""HardKuma gates: Kumaraswamy variables that can be exactly 0 (closed) or 1 (open).

u ~ Kumaraswamy(a, b) becomes a gate z in one of three forms:

    thresholded  z = 1[u > t] forward, u backward (straight-through)
    stretched    z = min(1, max(0, l + (r − l) u)), with l < 0 and r > 1
    continuous   z = u

All forms have the methods `rsample`, `prob_zero`, `prob_one`, `prob_open`, `mean`, `decision` and
the logarithms of the probabilities; `torch.distributions.kl_divergence` compares two gates of one
form. `thresher.maths.gate_forms.gate` creates a gate by the name of its form.
"""

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Generator, Tensor
from torch.distributions import Distribution, constraints, kl_divergence
from torch.distributions.kl import register_kl
from torch.types import _size

from thresher.maths.kumaraswamy import Kumaraswamy
from thresher.maths.quadrature import unit_interval_rule


class KumaraswamyGate(Distribution, ABC):
    """Base class of the three forms: u ~ Kumaraswamy(a, b), and z is open if u > opening.

    Every method returns a tensor of the batch shape, that of `a` and `b` broadcast together;
    samples have shape sample_shape + batch_shape.
    """

    arg_constraints = {"a": constraints.positive, "b": constraints.positive}  # noqa: RUF012
    has_rsample = True

    def __init__(
        self,
        a: Tensor | float,
        b: Tensor | float,
        *,
        opening: float,
        validate_args: bool | None = None,
    ) -> None:
        self.kumaraswamy = Kumaraswamy(a, b, validate_args=validate_args)
        self.a, self.b = self.kumaraswamy.a, self.kumaraswamy.b
        self.opening = opening
        super().__init__(self.kumaraswamy.batch_shape, validate_args=validate_args)

    def expand(self, batch_shape: _size, _instance: Any = None) -> "KumaraswamyGate":
        """Return the gate with `a` and `b` expanded to `batch_shape`."""
        new: KumaraswamyGate = self._get_checked_instance(  # type: ignore[no-untyped-call]
            type(self), _instance
        )
        new.__dict__.update(self.__dict__)
        new.kumaraswamy = self.kumaraswamy.expand(batch_shape)
        new.a, new.b = new.kumaraswamy.a, new.kumaraswamy.b
        new._batch_shape = new.kumaraswamy.batch_shape
        return new

    def rsample(self, sample_shape: _size = (), *, generator: Generator | None = None) -> Tensor:
        """Draw samples of z that are differentiable in a and b."""
        return self._gate(self.kumaraswamy.rsample(sample_shape, generator=generator))

    def sample(self, sample_shape: _size = (), *, generator: Generator | None = None) -> Tensor:
        """Draw samples of z without gradients."""
        with torch.no_grad():
            return self.rsample(sample_shape, generator=generator)

    def prob_open(self) -> Tensor:
        """Return P(z > 0), for the continuous form P(u > t): 1 − F(opening)."""
        return torch.exp(self.log_prob_open())

    def prob_closed(self) -> Tensor:
        """Return 1 − P(open) = F(opening), more exactly than by subtraction."""
        return torch.exp(self.log_prob_closed())

    def prob_zero(self) -> Tensor:
        """Return P(z = 0)."""
        return torch.exp(self.log_prob_zero())

    def prob_one(self) -> Tensor:
        """Return P(z = 1)."""
        return torch.exp(self.log_prob_one())

    def log_prob_open(self) -> Tensor:
        """Return log P(open)."""
        return self.kumaraswamy.log_survival(self.a.new_full((), self.opening))

    def log_prob_closed(self) -> Tensor:
        """Return log(1 − P(open))."""
        return self.kumaraswamy.log_cdf(self.a.new_full((), self.opening))

    def log_prob_zero(self) -> Tensor:
        """Return log P(z = 0)."""
        return self.log_prob_closed()

    @abstractmethod
    def log_prob_one(self) -> Tensor:
        """Return log P(z = 1)."""

    @abstractmethod
    def decision(self) -> Tensor:
        """Return the gate used at inference: 0, 1 or the mean of z between them.

        It depends on which of z = 0, z = 1 and 0 < z < 1 is the most probable.
        """

    @abstractmethod
    def _gate(self, u: Tensor) -> Tensor:
        """Return z for u, elementwise."""


class _ThresholdGate(KumaraswamyGate):
    """A gate that is open if u > threshold."""

    def __init__(
        self,
        a: Tensor | float,
        b: Tensor | float,
        *,
        threshold: float = 0.5,
        validate_args: bool | None = None,
    ) -> None:
        if not 0 < threshold < 1:
            raise ValueError(f"`threshold` must be strictly between 0 and 1, got {threshold}")
        super().__init__(a, b, opening=threshold, validate_args=validate_args)


class ThresholdedGate(_ThresholdGate):
    """z = 1[u > t] in the forward pass; the gradient of u in the backward pass.

    P(z = 1) = 1 − F(t) = (1 − tᵃ)ᵇ. Samples are exactly 0 or 1.
    """

    support = constraints.boolean

    def log_prob(self, value: Tensor) -> Tensor:
        """Return log P(z = value) for values 0 and 1."""
        if self._validate_args:
            self._validate_sample(value)
        return torch.where(value > 0, self.log_prob_open(), self.log_prob_closed())

    def log_prob_one(self) -> Tensor:
        """Return log(1 − F(t)) = b log(1 − tᵃ)."""
        return self.log_prob_open()

    @property
    def mean(self) -> Tensor:
        """P(z = 1)."""
        return self.prob_one()

    def decision(self) -> Tensor:
        """Return 1 if P(z = 1) > ½, else 0."""
        return (self.log_prob_one() > self.log_prob_zero()).to(self.a.dtype)

    def _gate(self, u: Tensor) -> Tensor:
        # u − u is exactly 0, so the value is the indicator and the gradient is that of u.
        return (u > self.opening).to(u.dtype) + (u - u.detach())


class StretchedGate(KumaraswamyGate):
    """z = min(1, max(0, l + (r − l) u)): u stretched to (l, r), then rectified.

    P(z = 0) = F(−l/(r − l)), P(z = 1) = 1 − F((1 − l)/(r − l)), and between them the density
    p((z − l)/(r − l))/(r − l).
    """

    support = constraints.unit_interval

    def __init__(
        self,
        a: Tensor | float,
        b: Tensor | float,
        *,
        lower: float = -0.1,
        upper: float = 1.1,
        validate_args: bool | None = None,
    ) -> None:
        if not (lower < 0 and upper > 1):
            raise ValueError(
                "stretched gates need `lower` < 0 and `upper` > 1, "
                f"got lower={lower}, upper={upper}"
            )
        self.lower, self.upper = lower, upper
        super().__init__(a, b, opening=-lower / (upper - lower), validate_args=validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return log P(z = 0) at 0, log P(z = 1) at 1, and the log density of z in between."""
        if self._validate_args:
            self._validate_sample(value)
        # Even for 0 and 1 the unstretched value is inside (0, 1), so no branch is infinite.
        density = self.kumaraswamy.log_prob(self._unstretched(value))
        log_prob = density - torch.log(self.a.new_full((), self.upper - self.lower))
        log_prob = torch.where(value <= 0, self.log_prob_zero(), log_prob)
        return torch.where(value >= 1, self.log_prob_one(), log_prob)

    def log_prob_one(self) -> Tensor:
        """Return log(1 − F((1 − l)/(r − l)))."""
        return self.kumaraswamy.log_survival(self._unstretched(self.a.new_ones(())))

    @property
    def mean(self) -> Tensor:
        """E[z] = ∫₀¹ P(z > y) dy, by 64-node quadrature; exact up to rounding for a, b ≤ 100."""
        y, weights = unit_interval_rule(self.a, ndim=self.a.ndim)
        return (weights * torch.exp(self.kumaraswamy.log_survival(self._unstretched(y)))).sum(0)

    def decision(self) -> Tensor:
        """Return 0, 1 or E[z | 0 < z < 1] if P(z = 0), P(z = 1) or P(0 < z < 1) is the largest."""
        zero, one = self.prob_zero(), self.prob_one()
        between = 1 - zero - one
        # The largest of the three is at least 1/3: the clamp changes only means that are not used.
        mean_between = (self.mean - one) / between.clamp(min=1 / 3)
        extreme = (one > zero).to(zero.dtype)
        return torch.where((between > zero) & (between > one), mean_between, extreme)

    def _gate(self, u: Tensor) -> Tensor:
        return (self.lower + (self.upper - self.lower) * u).clamp(0, 1)

    def _unstretched(self, z: Tensor) -> Tensor:
        return (z - self.lower) / (self.upper - self.lower)


class ContinuousGate(_ThresholdGate):
    """z = u, never exactly 0 or 1; it counts as open if u > t."""

    support = constraints.unit_interval

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the log density of u."""
        return self.kumaraswamy.log_prob(value)

    def log_prob_zero(self) -> Tensor:
        """Return −inf: z is never 0, even if it counts as closed."""
        return torch.full_like(self.a, -torch.inf)

    def log_prob_one(self) -> Tensor:
        """Return −inf: z is never 1."""
        return torch.full_like(self.a, -torch.inf)

    @property
    def mean(self) -> Tensor:
        """E[u] = b B(1 + 1/a, b)."""
        return self.kumaraswamy.mean

    def decision(self) -> Tensor:
        """Return E[u]."""
        return self.mean

    def _gate(self, u: Tensor) -> Tensor:
        return u


def symmetric_kl(p: Distribution, q: Distribution) -> Tensor:
    """Return ½ KL(p‖q) + ½ KL(q‖p), of the batch shape."""
    return (kl_divergence(p, q) + kl_divergence(q, p)) / 2


def _kl_term(log_p: Tensor, log_q: Tensor) -> Tensor:
    """Return p (log p − log q), the contribution of one point to KL(p‖q)."""
    return torch.exp(log_p) * (log_p - log_q)


def _kl_thresholded(p: ThresholdedGate, q: ThresholdedGate) -> Tensor:
    zero = _kl_term(p.log_prob_zero(), q.log_prob_zero())
    return zero + _kl_term(p.log_prob_one(), q.log_prob_one())


def _kl_stretched(p: StretchedGate, q: StretchedGate) -> Tensor:
    """Add the point masses exactly, and the density between them by quadrature over z."""
    z, weights = unit_interval_rule(p.a, ndim=max(p.a.ndim, q.a.ndim))
    between = (weights * _kl_term(p.log_prob(z), q.log_prob(z))).sum(0)
    zero = _kl_term(p.log_prob_zero(), q.log_prob_zero())
    return zero + between + _kl_term(p.log_prob_one(), q.log_prob_one())


def _kl_continuous(p: ContinuousGate, q: ContinuousGate) -> Tensor:
    return kl_divergence(p.kumaraswamy, q.kumaraswamy)


register_kl(ThresholdedGate, ThresholdedGate)(_kl_thresholded)  # type: ignore[no-untyped-call]
register_kl(StretchedGate, StretchedGate)(_kl_stretched)  # type: ignore[no-untyped-call]
register_kl(ContinuousGate, ContinuousGate)(_kl_continuous)  # type: ignore[no-untyped-call]
