import copy
import itertools

import mpmath
import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
import scipy.stats
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.distributions import kl_divergence

from thresher.maths.kumaraswamy import Kumaraswamy

WIDE = [1e-3, 0.03, 0.3, 1.0, 1.5, 7.0, 100.0]
MODERATE = [(0.5, 0.5), (0.7, 3.0), (1.0, 1.0), (1.0, 4.0), (2.0, 0.6), (3.0, 8.0), (10.0, 2.0)]
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def naive_density(x, a, b):
    return a * b * x ** (a - 1) * (1 - x**a) ** (b - 1)


def double(*values, requires_grad=False):
    return [torch.tensor(v, dtype=torch.float64, requires_grad=requires_grad) for v in values]


def wide_grid(dtype):
    pairs = torch.tensor(list(itertools.product(WIDE, WIDE)), dtype=dtype)
    return pairs[:, 0].clone(), pairs[:, 1].clone()


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


# Density, CDF, inverse CDF


@pytest.mark.parametrize(("a", "b"), MODERATE)
def test_density_matches_its_formula_and_integrates_to_one(a, b):
    x = np.linspace(0.01, 0.99, 41)
    p = Kumaraswamy(*double(a, b))
    density = p.log_prob(torch.from_numpy(x)).exp()
    np.testing.assert_allclose(density, naive_density(x, a, b), rtol=1e-12)
    # x = sin² s removes the poles of the density at both ends.
    total, _ = scipy.integrate.quad(
        lambda s: float(p.log_prob(torch.tensor(np.sin(s) ** 2)).exp()) * 2 * np.sin(s) * np.cos(s),
        0,
        np.pi / 2,
    )
    assert total == pytest.approx(1, rel=1e-7)


@pytest.mark.parametrize(("a", "b"), MODERATE)
def test_cdf_is_the_integral_of_the_density(a, b):
    p = Kumaraswamy(*double(a, b))
    for low, high in itertools.pairwise([0.05, 0.3, 0.5, 0.9, 0.99]):
        mass, _ = scipy.integrate.quad(naive_density, low, high, args=(a, b))
        below, above = p.cdf(torch.tensor([low, high], dtype=torch.float64)).tolist()
        assert above - below == pytest.approx(mass, rel=1e-9)


@DTYPES
def test_log_cdf_and_log_survival_keep_their_digits_where_probabilities_underflow(dtype):
    a, b = wide_grid(dtype)
    p = Kumaraswamy(a, b)
    with mpmath.workdps(400):
        for x in torch.tensor([0.05, 0.5, 0.95], dtype=dtype):
            survival = [
                (1 - mpmath.mpf(x.item()) ** a_) ** b_
                for a_, b_ in zip(a.tolist(), b.tolist(), strict=True)
            ]
            rtol = 200 * torch.finfo(dtype).eps
            log_cdf = [float(mpmath.log(1 - s)) for s in survival]
            np.testing.assert_allclose(p.log_cdf(x), log_cdf, rtol=rtol, atol=1e-37)
            log_survival = [float(mpmath.log(s)) for s in survival]
            np.testing.assert_allclose(p.log_survival(x), log_survival, rtol=rtol, atol=1e-37)


@DTYPES
def test_inverse_cdf_inverts_the_cdf(dtype):
    v = torch.linspace(0.01, 0.99, 25, dtype=dtype)[:, None]
    a, b = (torch.tensor(values, dtype=dtype) for values in zip(*MODERATE, strict=True))
    p = Kumaraswamy(a, b)
    expected = v.expand(25, len(MODERATE))
    np.testing.assert_allclose(p.cdf(p.icdf(v)), expected, rtol=100 * torch.finfo(dtype).eps)


def test_values_at_0_and_1_are_limits_and_not_nan():
    ends = torch.tensor([0.0, 1.0])
    for a, b in [(0.5, 0.5), (1.0, 1.0), (2.0, 3.0)]:
        p = Kumaraswamy(a, b)
        assert p.cdf(ends).tolist() == [0.0, 1.0]
        assert p.icdf(ends).tolist() == [0.0, 1.0]
    inf = torch.inf
    assert Kumaraswamy(0.5, 0.5).log_prob(ends).tolist() == [inf, inf]
    assert Kumaraswamy(1.0, 1.0).log_prob(ends).tolist() == [0.0, 0.0]
    assert Kumaraswamy(2.0, 3.0).log_prob(ends).tolist() == [-inf, -inf]
    assert Kumaraswamy(1.0, 3.0).log_prob(ends).tolist() == pytest.approx([np.log(3), -inf])


# Samples


@DTYPES
@pytest.mark.parametrize(("a", "b"), MODERATE)
def test_samples_follow_the_cdf(a, b, dtype):
    p = Kumaraswamy(torch.tensor(a, dtype=dtype), torch.tensor(b, dtype=dtype))
    x = p.sample((20_000,), generator=seeded())
    result = scipy.stats.kstest(x.double(), lambda x: 1 - (1 - x**a) ** b)
    assert result.pvalue > 1e-3


@DTYPES
@pytest.mark.parametrize(("a", "b"), [(1e-3, 1e-3), (1e-3, 50.0), (50.0, 1e-3), (0.1, 0.2)])
def test_logarithms_of_samples_follow_the_cdf_where_samples_would_round(a, b, dtype):
    p = Kumaraswamy(torch.tensor(a, dtype=dtype), torch.tensor(b, dtype=dtype))
    log_x, log_rest = (
        log.double().numpy() for log in p.rsample_logs((20_000,), generator=seeded())
    )
    # Monotone in x, with every digit at both ends: log 2x below a half, −log 2(1 − x) above.
    position = np.where(log_x < log_rest, log_x + np.log(2), -log_rest - np.log(2))

    def cdf(position):
        log_side = -np.abs(position) - np.log(2)
        below = -np.expm1(b * np.log(-np.expm1(a * log_side)))
        # Above, 1 − xᵃ = 1 − (1 − eᵐ)ᵃ with m = log(1 − x), and a eᵐ where eᵐ is tiny.
        log_rest = np.log(-np.expm1(a * np.log1p(-np.exp(np.maximum(log_side, -300)))))
        log_rest = np.where(log_side > -300, log_rest, np.log(a) + log_side)
        return np.where(position < 0, below, -np.expm1(b * log_rest))

    assert scipy.stats.kstest(position, cdf).pvalue > 1e-3
    assert len(np.unique(position)) > 19_900


@DTYPES
def test_log_prob_and_its_gradients_are_finite_at_its_own_samples(dtype):
    a, b = (parameter.requires_grad_() for parameter in wide_grid(dtype))
    p = Kumaraswamy(a, b)
    x = p.sample((500,), generator=seeded()).requires_grad_()
    limits = torch.finfo(dtype)
    assert x.min() >= limits.tiny
    assert x.max() <= 1 - limits.eps
    assert x.min() == limits.tiny, "the grid must reach the lower clamp"
    assert x.max() == 1 - limits.eps, "the grid must reach the upper clamp"
    log_prob = p.log_prob(x)
    assert torch.isfinite(log_prob).all()
    for gradient in torch.autograd.grad(log_prob.sum(), (a, b, x)):
        assert torch.isfinite(gradient).all()


@DTYPES
def test_gradients_along_the_samples_are_finite(dtype):
    a, b = (parameter.requires_grad_() for parameter in wide_grid(dtype))
    p = Kumaraswamy(a, b)
    x = p.rsample((500,), generator=seeded())
    logs = p.rsample_logs((500,), generator=seeded())
    for value in (x.sum(), p.log_prob(x).sum(), logs[0].sum(), logs[1].sum()):
        assert torch.isfinite(value)
        for gradient in torch.autograd.grad(value, (a, b), retain_graph=True):
            assert torch.isfinite(gradient).all()


def test_reparameterised_gradients_match_finite_differences():
    a, b = double([0.2, 0.8, 1.0, 6.0], [0.5, 3.0, 1.0, 2.0], requires_grad=True)

    def samples(a, b):
        return Kumaraswamy(a, b).rsample((20,), generator=seeded())

    def logs(a, b):
        return Kumaraswamy(a, b).rsample_logs((20,), generator=seeded())

    assert torch.autograd.gradcheck(samples, (a, b))
    assert torch.autograd.gradcheck(logs, (a, b))


def test_samples_depend_only_on_the_generator():
    p = Kumaraswamy(torch.tensor([0.5, 2.0]), 3.0)
    assert torch.equal(p.rsample((4,), generator=seeded(7)), p.sample((4,), generator=seeded(7)))
    torch.manual_seed(7)
    assert torch.equal(p.rsample((4,)), p.rsample((4,), generator=seeded(7)))
    assert not torch.equal(p.sample((4,), generator=seeded(8)), p.sample((4,), generator=seeded(7)))


# Moments, mode, entropy


@DTYPES
def test_mean_and_variance_match_exact_moments(dtype):
    a, b = wide_grid(dtype)
    p = Kumaraswamy(a, b)
    with mpmath.workdps(60):

        def moment(k, a, b):
            return b * mpmath.beta(1 + k / mpmath.mpf(a), b)

        pairs = list(zip(a.tolist(), b.tolist(), strict=True))
        mean = [float(moment(1, *pair)) for pair in pairs]
        variance = [float(moment(2, *pair) - moment(1, *pair) ** 2) for pair in pairs]
    rtol = 3e-5 if dtype == torch.float32 else 1e-11
    np.testing.assert_allclose(p.mean, mean, rtol=rtol, atol=1e-37)
    np.testing.assert_allclose(p.variance, variance, rtol=max(rtol, 1e-7), atol=1e-37)


@pytest.mark.parametrize(("a", "b"), MODERATE)
def test_mean_and_entropy_match_quadrature(a, b):
    p = Kumaraswamy(*double(a, b))
    options = {"epsabs": 1e-10, "limit": 200}
    mean, _ = scipy.integrate.quad(lambda v: (1 - (1 - v) ** (1 / b)) ** (1 / a), 0, 1, **options)
    assert float(p.mean) == pytest.approx(mean, rel=1e-7)

    def surprise(s):  # x = sin² s
        x = np.sin(s) ** 2
        density = naive_density(x, a, b)
        return -density * np.log(density) * 2 * np.sin(s) * np.cos(s)

    entropy, _ = scipy.integrate.quad(surprise, 1e-9, np.pi / 2 - 1e-9, **options)
    assert float(p.entropy()) == pytest.approx(entropy, abs=1e-6)


@pytest.mark.parametrize(("a", "b"), [(2.0, 3.0), (1.5, 30.0), (10.0, 2.0), (1.01, 1.02)])
def test_mode_is_where_the_density_is_highest(a, b):
    best = scipy.optimize.minimize_scalar(
        lambda x: -naive_density(x, a, b), bounds=(1e-6, 1 - 1e-6), options={"xatol": 1e-10}
    )
    assert float(Kumaraswamy(*double(a, b)).mode) == pytest.approx(best.x, abs=1e-6)


def test_mode_is_at_an_end_or_nan_without_a_peak():
    at_zero = Kumaraswamy(torch.tensor([0.5, 0.5, 1.0]), torch.tensor([1.0, 4.0, 2.0]))
    at_one = Kumaraswamy(torch.tensor([1.0, 3.0, 2.0]), torch.tensor([0.5, 0.2, 1.0]))
    nowhere = Kumaraswamy(torch.tensor([0.5, 1.0]), torch.tensor([0.5, 1.0]))
    assert at_zero.mode.tolist() == [0, 0, 0]
    assert at_one.mode.tolist() == [1, 1, 1]
    assert torch.isnan(nowhere.mode).all()


def test_gradients_of_every_summary_match_finite_differences():
    a, b = double([0.2, 0.8, 1.0, 6.0], [0.5, 3.0, 1.0, 2.0], requires_grad=True)
    x = torch.tensor([[0.1], [0.6]], dtype=torch.float64, requires_grad=True)

    def summaries(a, b):
        p = Kumaraswamy(a, b)
        return p.mean, p.variance, p.entropy()

    def functions(a, b, x):
        p = Kumaraswamy(a, b)
        return p.log_prob(x), p.cdf(x), p.log_cdf(x), p.log_survival(x), p.icdf(x)

    assert torch.autograd.gradcheck(summaries, (a, b))
    assert torch.autograd.gradcheck(functions, (a, b, x))


# Divergence


@pytest.mark.parametrize(("p", "q"), list(itertools.product(MODERATE[::2], MODERATE[1:])))
def test_divergence_matches_quadrature(p, q):
    (a, b), (c, d) = p, q

    def log_ratio(survival):  # xᵃ = 1 − survival^(1/b)
        rest = survival ** (1 / b)
        log_x = np.log1p(-rest) / a
        log_p = np.log(a * b) + (a - 1) * log_x + (b - 1) * np.log(rest)
        return log_p - np.log(c * d) - (c - 1) * log_x - (d - 1) * np.log(-np.expm1(c * log_x))

    expected, _ = scipy.integrate.quad(log_ratio, 0, 1, epsabs=1e-10, limit=200)
    divergence = kl_divergence(Kumaraswamy(*double(*p)), Kumaraswamy(*double(*q)))
    assert float(divergence) == pytest.approx(expected, rel=1e-8, abs=1e-9)


def exact_divergence(a, b, c, d):
    """KL(a, b ‖ c, d) from closed forms but for E[log(1 − Xᶜ)], which is integrated over log e."""
    with mpmath.workdps(30):
        a, b, c, d = map(mpmath.mpf, (a, b, c, d))

        def integrand(s):
            e = mpmath.exp(s)
            log_power = mpmath.log1p(-mpmath.exp(-e / b)) * c / a
            return mpmath.log(-mpmath.expm1(log_power)) * mpmath.exp(s - e)

        pieces = [-70, -30, -15, -10, -8, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4.3]
        expected_log_rest = mpmath.quad(integrand, pieces)
        harmonic = mpmath.digamma(b + 1) + mpmath.euler
        log_ratio = mpmath.log(a * b / (c * d)) - (a - c) * harmonic / a
        return float(log_ratio - (b - 1) / b - (d - 1) * expected_log_rest)


@pytest.mark.parametrize(
    "parameters",
    [
        (1e-3, 1e-3, 100.0, 1e-3),
        (1e-3, 1e-3, 100.0, 100.0),
        (1e-3, 100.0, 0.5, 2.0),
        (100.0, 1e-3, 1e-3, 100.0),
        (100.0, 100.0, 1e-3, 1e-3),
        (0.03, 3.0, 10.0, 0.03),
        (2.0, 2.0, 2.001, 1.999),
    ],
)
def test_divergence_is_accurate_from_a_thousandth_to_a_hundred(parameters):
    exact = exact_divergence(*parameters)
    for dtype, rel in ((torch.float64, 1e-6), (torch.float32, 3e-5)):
        a, b, c, d = torch.tensor(parameters, dtype=dtype)
        divergence = float(kl_divergence(Kumaraswamy(a, b), Kumaraswamy(c, d)))
        # A divergence of 1e-7 is made of float32 log ratios of 1e-3.
        assert divergence == pytest.approx(exact, rel=rel, abs=torch.finfo(dtype).eps)


@DTYPES
def test_divergence_from_itself_is_exactly_zero(dtype):
    p = Kumaraswamy(*wide_grid(dtype))
    assert (kl_divergence(p, p) == 0).all()


parameter = st.floats(0.01, 50)


@given(parameter, parameter, parameter, parameter)
def test_divergence_is_never_negative(a, b, c, d):
    divergence = kl_divergence(Kumaraswamy(*double(a, b)), Kumaraswamy(*double(c, d)))
    assert float(divergence) >= -1e-9


def test_divergence_gradients_match_finite_differences_and_broadcast():
    p = double([[0.3], [2.0]], [[1.5], [0.6]], requires_grad=True)
    q = double([0.8, 1.0, 5.0], 3.0, requires_grad=True)

    def divergence(a, b, c, d):
        return kl_divergence(Kumaraswamy(a, b), Kumaraswamy(c, d))

    assert divergence(*p, *q).shape == (2, 3)
    assert torch.autograd.gradcheck(divergence, (*p, *q))


def test_divergence_aligns_batches_of_different_rank_from_the_right():
    p, q = Kumaraswamy(torch.rand(3) + 0.5, 2.0), Kumaraswamy(torch.rand(4, 3) + 0.5, 1.0)
    assert kl_divergence(p, q).shape == (4, 3)
    torch.testing.assert_close(kl_divergence(p, q), kl_divergence(p.expand((4, 3)), q))


# A citizen of torch.distributions


def test_parameters_broadcast_to_the_batch_shape():
    p = Kumaraswamy(torch.ones(3, 1), torch.ones(2))
    assert p.batch_shape == (3, 2)
    assert p.event_shape == ()
    assert p.rsample((5,)).shape == (5, 3, 2)
    assert p.log_prob(torch.tensor(0.5)).shape == (3, 2)
    assert p.mean.shape == p.variance.shape == p.mode.shape == p.entropy().shape == (3, 2)


def test_numbers_make_a_scalar_distribution():
    p = Kumaraswamy(2, 3.0)
    assert p.batch_shape == ()
    assert p.a.dtype == torch.get_default_dtype()
    assert p.rsample().shape == ()


def test_expanding_repeats_the_distribution():
    p = Kumaraswamy(torch.tensor([0.5, 2.0]), 3.0, validate_args=False)
    q = p.expand((4, 2))
    assert q.batch_shape == (4, 2)
    assert q._validate_args is False
    torch.testing.assert_close(q.mean, p.mean.expand(4, 2))
    assert copy.deepcopy(q).rsample().shape == (4, 2)


def test_an_empty_batch_stays_empty():
    p = Kumaraswamy(torch.empty(0, 2), 1.0)
    for value in (p.rsample(), p.mean, p.variance, p.mode, p.entropy(), kl_divergence(p, p)):
        assert value.shape == (0, 2)
    assert p.log_prob(p.rsample((3,))).shape == (3, 0, 2)


@pytest.mark.parametrize(
    ("a", "b", "name"), [(0.0, 1.0, "a"), (1.0, -1.0, "b"), (1.0, np.inf * 0, "b")]
)
def test_parameters_that_are_not_positive_are_refused(a, b, name):
    with pytest.raises(ValueError, match=f"Expected parameter {name} .*Kumaraswamy.*GreaterThan"):
        Kumaraswamy(a, b, validate_args=True)


@pytest.mark.parametrize("method", ["log_prob", "cdf", "log_cdf", "log_survival"])
def test_values_outside_the_unit_interval_or_of_the_wrong_shape_are_refused(method):
    p = Kumaraswamy(torch.ones(3), 2.0, validate_args=True)
    with pytest.raises(ValueError, match="within the support"):
        getattr(p, method)(torch.tensor(1.5))
    with pytest.raises(ValueError, match="not broadcastable"):
        getattr(p, method)(torch.rand(4))
