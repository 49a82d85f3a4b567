"""The Kumaraswamy distribution: similar to Beta, but its inverse CDF has a closed form."""

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

    Everything is computed from logarithms. Samples are in [tiny, 1 − eps] of their dtype, and
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
        """Return the distribution with `a` and `b` expanded to `batch_shape`."""
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
        """Return (log x, log(1 − x)) of reparameterised samples, before x is rounded or clamped.

        With e = −log w, w ~ U(0, 1) and ℓ(p) = log(−log p): xᵃ is the complement of exp(−e/b),
        so that log x = log(1 − exp(−e/b))/a, and 1 − x is the complement of x.
        Each has shape sample_shape + batch_shape.
        """
        shape = self._extended_shape(sample_shape)
        w = torch.rand(shape, dtype=self.a.dtype, device=self.a.device, generator=generator)
        # `rand` gives multiples of eps/2 in [0, 1); 0 stands for values below half a step.
        e = -torch.log(w.clamp(min=torch.finfo(w.dtype).eps / 4))
        log_x, loglog_x = self._logs_from_log_exponential(torch.log(e))
        return log_x, log_complement(loglog_x)

    def _logs_from_log_exponential(self, log_e: Tensor) -> tuple[Tensor, Tensor]:
        """Return (log x, log(−log x)) of the x with 1 − F(x) = exp(−e)."""
        loglog_rest = log_e - torch.log(self.b)  # ℓ(1 − xᵃ)
        log_x = log_complement(loglog_rest) / self.a
        return log_x, loglog_complement(loglog_rest) - torch.log(self.a)

    def rsample(self, sample_shape: _size = (), *, generator: Generator | None = None) -> Tensor:
        """Draw reparameterised samples in [tiny, 1 − eps], shape sample_shape + batch_shape."""
        log_x, _ = self.rsample_logs(sample_shape, generator=generator)
        limits = torch.finfo(log_x.dtype)
        return torch.exp(log_x).clamp(limits.tiny, 1 - limits.eps)

    def sample(self, sample_shape: _size = (), *, generator: Generator | None = None) -> Tensor:
        """Draw samples without gradients."""
        with torch.no_grad():
            return self.rsample(sample_shape, generator=generator)

    def log_prob(self, value: Tensor) -> Tensor:
        """Return log a + log b + (a − 1) log x + (b − 1) log(1 − xᵃ); at 0 and 1, its limit."""
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
        """Return F(x) = P(X ≤ x) = 1 − (1 − xᵃ)ᵇ."""
        return torch.exp(self.log_cdf(value))

    def log_cdf(self, value: Tensor) -> Tensor:
        """Return log F(x), even if F(x) is too small for its dtype."""
        if self._validate_args:
            self._validate_sample(value)
        loglog_power = torch.log(self.a) + torch.log(-torch.log(value))  # ℓ(xᵃ)
        return log_complement(torch.log(self.b) + loglog_complement(loglog_power))

    def log_survival(self, value: Tensor) -> Tensor:
        """Return log P(X > x) = b log(1 − xᵃ)."""
        if self._validate_args:
            self._validate_sample(value)
        return self.b * log1mexp(self.a * torch.log(value))

    def icdf(self, value: Tensor) -> Tensor:
        """Return the x with F(x) = v: (1 − (1 − v)^(1/b))^(1/a)."""
        return torch.exp(log1mexp(torch.log1p(-value) / self.b) / self.a)

    @property
    def mean(self) -> Tensor:
        """E[X] = b B(1 + 1/a, b), where B is the beta function."""
        return torch.exp(_log_moment(self.a, self.b, 1))

    @property
    def variance(self) -> Tensor:
        """E[X²] − E[X]², in float64 because the two may agree in most of their digits."""
        a, b = self.a.double(), self.b.double()
        log_first, log_second = _log_moment(a, b, 1), _log_moment(a, b, 2)
        variance = -torch.exp(log_second) * torch.expm1(2 * log_first - log_second)
        return variance.to(self.a.dtype)

    @property
    def mode(self) -> Tensor:
        """((a − 1)/(ab − 1))^(1/a) if a > 1 and b ≥ 1, else the end with the highest density.

        That end is 0 for a ≤ 1 ≤ b and 1 for b ≤ 1 ≤ a. NaN if there is no mode: for a, b < 1 the
        density is infinite at both ends, for a = b = 1 it is constant.
        """
        a, b = self.a, self.b
        # (ab − 1)/(a − 1) = 1 + a(b − 1)/(a − 1) does not cancel when a and b are close to 1.
        rising, falling = (a - 1).clamp(min=0), (b - 1).clamp(min=0)
        mode = torch.exp(-torch.log1p(a * falling / rising) / a)  # NaN from 0/0
        mode = torch.where((a < 1) & (b == 1), torch.zeros_like(a), mode)
        return torch.where((a == 1) & (b < 1), torch.ones_like(a), mode)

    def entropy(self) -> Tensor:
        """Return 1 − 1/b + (1 − 1/a) H_b − log(ab), with the harmonic number H_b = ψ(b + 1) + γ."""
        harmonic = torch.digamma(self.b + 1) + euler_constant
        log_ab = torch.log(self.a) + torch.log(self.b)
        return (1 - 1 / self.b) + (1 - 1 / self.a) * harmonic - log_ab


def _kl_kumaraswamy(p: Kumaraswamy, q: Kumaraswamy) -> Tensor:
    """Return E_p[log p(X) − log q(X)], by quadrature over e = −b log(1 − Xᵃ) ~ Exponential(1).

    Only E_p[log(1 − X^a_q)] has no closed form, but the whole log ratio is integrated: KL(p‖p) is
    then exactly 0, and nearly equal distributions lose no digits.
    """
    log_e, weights = exponential_rule(p.a, ndim=max(p.a.ndim, q.a.ndim))
    log_x, loglog_x = p._logs_from_log_exponential(log_e)
    ratio = _log_density(p, log_x, loglog_x) - _log_density(q, log_x, loglog_x)
    return (weights * ratio).sum(0)


register_kl(Kumaraswamy, Kumaraswamy)(_kl_kumaraswamy)  # type: ignore[no-untyped-call]


def _log_density(p: Kumaraswamy, log_x: Tensor, loglog_x: Tensor) -> Tensor:
    """Return `p.log_prob(x)` from logarithms of x, which may be very close to 0 or 1."""
    log_a = torch.log(p.a)
    log_rest = log_complement(loglog_x + log_a)
    return log_a + torch.log(p.b) + (p.a - 1) * log_x + (p.b - 1) * log_rest


def _zero_times_infinity_is_zero(factor: Tensor, log: Tensor) -> Tensor:
    """Return factor · log, but 0 if the factor is 0 and the log is −inf."""
    return factor * log.masked_fill((factor == 0) & torch.isinf(log), 0.0)


def _log_moment(a: Tensor, b: Tensor, k: int) -> Tensor:
    """Return log E[Xᵏ] = log Γ(1 + k/a) + log Γ(1 + b) − log Γ(1 + k/a + b)."""
    small, large = torch.minimum(k / a, b), torch.maximum(k / a, b)
    return torch.lgamma(1 + small) + _log_gamma_ratio(1 + large, small)


def _log_gamma_ratio(x: Tensor, y: Tensor) -> Tensor:
    """Return log Γ(x) − log Γ(x + y) for x ≥ 1 and y > 0, without subtracting large numbers.

    By Γ(x) = Γ(x + 1)/x, x is increased by 8; there Stirling's series has double precision.
    """
    shifted = x + 8
    total = shifted + y
    steps = sum((torch.log1p(y / (x + i)) for i in range(8)), start=torch.zeros_like(x))
    stirling = (0.5 - shifted) * torch.log1p(y / shifted) - y * (torch.log(total) - 1)
    return steps + stirling + _stirling_remainder(shifted) - _stirling_remainder(total)


def _stirling_remainder(x: Tensor) -> Tensor:
    """Return log Γ(x) − [(x − ½) log x − x + ½ log 2π] = 1/12x − 1/360x³ + 1/1260x⁵ − …."""
    z = 1 / (x * x)
    return (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z / 1680))) / x
