"""The Kumaraswamy distribution: a Beta look-alike whose inverse CDF is a formula."""

from typing import Any

import torch
from torch import Generator, Tensor
from torch.distributions import Distribution, constraints
from torch.distributions.kl import register_kl
from torch.distributions.utils import broadcast_all, euler_constant
from torch.types import _size

from thresher.maths.log_space import log1mexp, log_complement, loglog_complement
from thresher.maths.quadrature import exponential_rule


class Kumaraswamy(Distribution):
    """Kumaraswamy(a, b) on (0, 1), with a, b > 0 of any shapes that broadcast together.

        density      p(x) = a b xᵃ⁻¹ (1 − xᵃ)ᵇ⁻¹
        CDF          F(x) = 1 − (1 − xᵃ)ᵇ
        inverse CDF  x = (1 − (1 − v)^(1/b))^(1/a)

    All of it is computed from logarithms. Samples lie in [tiny, 1 − eps] of their dtype, and
    `log_prob` and its gradients are finite there for a and b from 1e-3 to 100, in float32 and
    float64. Batch shapes, `expand` and `validate_args` are those of `torch.distributions`.
    """

    arg_constraints = {"a": constraints.positive, "b": constraints.positive}  # noqa: RUF012
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, a: Tensor | float, b: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self.a: Tensor
        self.b: Tensor
        self.a, self.b = broadcast_all(a, b)
        super().__init__(self.a.shape, validate_args=validate_args)

    def expand(self, batch_shape: _size, _instance: Any = None) -> "Kumaraswamy":
        """The same distribution with `a` and `b` expanded to `batch_shape`."""
        new: Kumaraswamy = self._get_checked_instance(  # type: ignore[no-untyped-call]
            Kumaraswamy, _instance
        )
        new.a = self.a.expand(batch_shape)
        new.b = self.b.expand(batch_shape)
        super(Kumaraswamy, new).__init__(torch.Size(batch_shape), validate_args=False)
        new._validate_args = self._validate_args
        return new

    def rsample_logs(
        self, sample_shape: _size = (), *, generator: Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        """(log x, log(1 − x)) of reparameterised samples, before x is rounded or clamped.

        With e = −log w, w ~ U(0, 1) and ℓ(p) = log(−log p): xᵃ is the complement of exp(−e/b),
        so that log x = log(1 − exp(−e/b))/a, and 1 − x is the complement of x.
        Each has shape sample_shape + batch_shape.
        """
        shape = self._extended_shape(sample_shape)
        w = torch.rand(shape, dtype=self.a.dtype, device=self.a.device, generator=generator)
        # `rand` gives multiples of eps/2 in [0, 1): zero stands for what lies below half a step.
        e = -torch.log(w.clamp(min=torch.finfo(w.dtype).eps / 4))
        log_x, loglog_x = self._logs_from_log_exponential(torch.log(e))
        return log_x, log_complement(loglog_x)

    def _logs_from_log_exponential(self, log_e: Tensor) -> tuple[Tensor, Tensor]:
        """(log x, log(−log x)) of the x whose survival 1 − F(x) is exp(−e)."""
        loglog_rest = log_e - torch.log(self.b)  # ℓ(1 − xᵃ)
        log_x = log_complement(loglog_rest) / self.a
        return log_x, loglog_complement(loglog_rest) - torch.log(self.a)

    def rsample(self, sample_shape: _size = (), *, generator: Generator | None = None) -> Tensor:
        """Reparameterised samples in [tiny, 1 − eps], shape sample_shape + batch_shape."""
        log_x, _ = self.rsample_logs(sample_shape, generator=generator)
        limits = torch.finfo(log_x.dtype)
        return torch.exp(log_x).clamp(limits.tiny, 1 - limits.eps)

    def sample(self, sample_shape: _size = (), *, generator: Generator | None = None) -> Tensor:
        """`rsample` without gradients."""
        with torch.no_grad():
            return self.rsample(sample_shape, generator=generator)

    def log_prob(self, value: Tensor) -> Tensor:
        """log a + log b + (a − 1) log x + (b − 1) log(1 − xᵃ); at 0 and 1, its limit."""
        if self._validate_args:
            self._validate_sample(value)
        log_x = torch.log(value)
        log_rest = log1mexp(self.a * log_x)
        return (
            torch.log(self.a)
            + torch.log(self.b)
            + _zero_times_infinity_is_zero(self.a - 1, log_x)
            + _zero_times_infinity_is_zero(self.b - 1, log_rest)
        )

    def cdf(self, value: Tensor) -> Tensor:
        """F(x) = P(X ≤ x) = 1 − (1 − xᵃ)ᵇ."""
        return torch.exp(self.log_cdf(value))

    def log_cdf(self, value: Tensor) -> Tensor:
        """log F(x), also where F(x) is too small for its dtype."""
        if self._validate_args:
            self._validate_sample(value)
        loglog_power = torch.log(self.a) + torch.log(-torch.log(value))  # ℓ(xᵃ)
        return log_complement(torch.log(self.b) + loglog_complement(loglog_power))

    def log_survival(self, value: Tensor) -> Tensor:
        """log P(X > x) = b log(1 − xᵃ)."""
        if self._validate_args:
            self._validate_sample(value)
        return self.b * log1mexp(self.a * torch.log(value))

    def icdf(self, value: Tensor) -> Tensor:
        """The x with F(x) = v: (1 − (1 − v)^(1/b))^(1/a)."""
        return torch.exp(log1mexp(torch.log1p(-value) / self.b) / self.a)

    @property
    def mean(self) -> Tensor:
        """E[X] = b B(1 + 1/a, b), B the beta function."""
        return torch.exp(_log_moment(self.a, self.b, 1))

    @property
    def variance(self) -> Tensor:
        """E[X²] − E[X]², in float64 within: where X hardly varies the two agree in most digits."""
        a, b = self.a.double(), self.b.double()
        log_first, log_second = _log_moment(a, b, 1), _log_moment(a, b, 2)
        variance = -torch.exp(log_second) * torch.expm1(2 * log_first - log_second)
        return variance.to(self.a.dtype)

    @property
    def mode(self) -> Tensor:
        """((a − 1)/(ab − 1))^(1/a) if a > 1 and b ≥ 1, else the end where the density is highest.

        That end is 0 for a ≤ 1 ≤ b and 1 for b ≤ 1 ≤ a. NaN where none is: a, b < 1 (the density
        is infinite at both ends) and a = b = 1 (it is flat).
        """
        a, b = self.a, self.b
        # (ab − 1)/(a − 1) = 1 + a(b − 1)/(a − 1) does not cancel when a and b are close to 1.
        rising, falling = (a - 1).clamp(min=0), (b - 1).clamp(min=0)
        mode = torch.exp(-torch.log1p(a * falling / rising) / a)  # 0/0 is the NaN
        mode = torch.where((a < 1) & (b == 1), torch.zeros_like(a), mode)
        return torch.where((a == 1) & (b < 1), torch.ones_like(a), mode)

    def entropy(self) -> Tensor:
        """1 − 1/b + (1 − 1/a) H_b − log(ab), H_b = ψ(b + 1) + γ the b-th harmonic number."""
        harmonic = torch.digamma(self.b + 1) + euler_constant
        log_ab = torch.log(self.a) + torch.log(self.b)
        return (1 - 1 / self.b) + (1 - 1 / self.a) * harmonic - log_ab


def _kl_kumaraswamy(p: Kumaraswamy, q: Kumaraswamy) -> Tensor:
    """E_p[log p(X) − log q(X)], by quadrature over the exponential variable behind the samples.

    Only E_p[log(1 − X^a_q)] lacks a closed form, yet the whole log ratio is taken at each node:
    KL(p‖p) is then exactly 0, and nearly equal distributions lose no digits.
    """
    log_e, weights = exponential_rule(p.a, ndim=max(p.a.ndim, q.a.ndim))
    log_x, loglog_x = p._logs_from_log_exponential(log_e)
    ratio = _log_density(p, log_x, loglog_x) - _log_density(q, log_x, loglog_x)
    return (weights * ratio).sum(0)


register_kl(Kumaraswamy, Kumaraswamy)(_kl_kumaraswamy)  # type: ignore[no-untyped-call]


def _log_density(p: Kumaraswamy, log_x: Tensor, loglog_x: Tensor) -> Tensor:
    """`p.log_prob(x)` for x so close to 0 or 1 that only its logarithms can be held."""
    log_a = torch.log(p.a)
    log_rest = log_complement(loglog_x + log_a)
    return log_a + torch.log(p.b) + (p.a - 1) * log_x + (p.b - 1) * log_rest


def _zero_times_infinity_is_zero(factor: Tensor, log: Tensor) -> Tensor:
    """factor · log, where a log of −inf only counts if its factor is not 0."""
    return factor * log.masked_fill((factor == 0) & torch.isinf(log), 0.0)


def _log_moment(a: Tensor, b: Tensor, k: int) -> Tensor:
    """log E[Xᵏ] = log Γ(1 + k/a) + log Γ(1 + b) − log Γ(1 + k/a + b)."""
    small, large = torch.minimum(k / a, b), torch.maximum(k / a, b)
    return torch.lgamma(1 + small) + _log_gamma_ratio(1 + large, small)


def _log_gamma_ratio(x: Tensor, y: Tensor) -> Tensor:
    """log Γ(x) − log Γ(x + y) for x ≥ 1 and y > 0, without the difference of two large numbers.

    Γ(x) = Γ(x + 1)/x raises x by 8; there Stirling's series holds to double precision.
    """
    raised = x + 8
    total = raised + y
    steps = sum((torch.log1p(y / (x + i)) for i in range(8)), start=torch.zeros_like(x))
    stirling = (0.5 - raised) * torch.log1p(y / raised) - y * (torch.log(total) - 1)
    return steps + stirling + _stirling_rest(raised) - _stirling_rest(total)


def _stirling_rest(x: Tensor) -> Tensor:
    """log Γ(x) − [(x − ½) log x − x + ½ log 2π] = 1/12x − 1/360x³ + 1/1260x⁵ − 1/1680x⁷ + …"""
    z = 1 / (x * x)
    return (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z / 1680))) / x
