import itertools

import numpy as np
import pytest
import scipy.integrate
import torch
from torch.distributions import Bernoulli, Kumaraswamy, kl_divergence

from thresher.maths.hard_kumaraswamy import (
    ContinuousGate,
    StretchedGate,
    ThresholdedGate,
    symmetric_kl,
)

FORMS = [ThresholdedGate, StretchedGate, ContinuousGate]
EVERY_FORM = pytest.mark.parametrize("form", FORMS)
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
PAIRS = [(0.2, 0.3), (0.5, 2.0), (1.0, 1.0), (2.0, 0.7), (3.0, 8.0), (10.0, 2.0)]
WIDE = [1e-3, 0.03, 0.3, 1.0, 1.5, 7.0, 100.0]
SAMPLES = 40_000


def double(*values, requires_grad=False):
    return [torch.tensor(v, dtype=torch.float64, requires_grad=requires_grad) for v in values]


def pairs(dtype=torch.float64):
    a, b = torch.tensor(PAIRS, dtype=dtype).T
    return a.clone(), b.clone()


def wide_grid(dtype):
    a, b = torch.tensor(list(itertools.product(WIDE, WIDE)), dtype=dtype).T
    return a.clone(), b.clone()


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def survival(u, a, b):
    return (1 - u**a) ** b


def density(u, a, b):
    return a * b * u ** (a - 1) * (1 - u**a) ** (b - 1)


def assert_is_mean_of(samples, expected):
    """`expected` lies within five standard errors of the mean; one sample may be missing."""
    error = samples.std(0) / len(samples) ** 0.5
    assert ((samples.mean(0) - expected).abs() <= 5 * error + 1 / len(samples)).all()


# Probabilities


def test_a_thresholded_gate_opens_with_the_survival_at_its_threshold():
    a, b = pairs()
    for threshold in (0.05, 0.5, 0.9):
        gate = ThresholdedGate(a, b, threshold=threshold)
        torch.testing.assert_close(gate.prob_one(), survival(threshold, a, b))
        torch.testing.assert_close(gate.prob_zero(), 1 - survival(threshold, a, b))
        torch.testing.assert_close(gate.prob_open(), gate.prob_one())
        torch.testing.assert_close(gate.mean, gate.prob_one())


def test_a_stretched_gate_has_the_published_point_masses():
    a, b = pairs()
    gate = StretchedGate(a, b)
    torch.testing.assert_close(gate.prob_zero(), 1 - (1 - (1 / 12) ** a) ** b)
    torch.testing.assert_close(gate.prob_one(), (1 - (11 / 12) ** a) ** b)
    torch.testing.assert_close(gate.prob_open(), 1 - gate.prob_zero())


def test_a_continuous_gate_is_never_zero_or_one_and_open_above_its_threshold():
    a, b = pairs()
    gate = ContinuousGate(a, b, threshold=0.3)
    assert (gate.prob_zero() == 0).all()
    assert (gate.prob_one() == 0).all()
    torch.testing.assert_close(gate.prob_open(), survival(0.3, a, b))
    torch.testing.assert_close(gate.mean, Kumaraswamy(a, b).mean)


@EVERY_FORM
def test_frequencies_of_samples_match_the_probabilities(form):
    gate = form(*pairs())
    z = gate.sample((SAMPLES,), generator=seeded())
    assert_is_mean_of((z == 0).double(), gate.prob_zero())
    assert_is_mean_of((z == 1).double(), gate.prob_one())
    is_open = z > (gate.opening if form is ContinuousGate else 0)
    assert_is_mean_of(is_open.double(), gate.prob_open())
    assert_is_mean_of(z, gate.mean)


@EVERY_FORM
@DTYPES
def test_log_probabilities_of_opening_and_closing_are_finite_from_a_thousandth_to_a_hundred(
    form, dtype
):
    a, b = (parameter.requires_grad_() for parameter in wide_grid(dtype))
    gate = form(a, b)
    for log_prob in (gate.log_prob_open(), gate.log_prob_closed()):
        assert torch.isfinite(log_prob).all()
        for gradient in torch.autograd.grad(log_prob.sum(), (a, b), retain_graph=True):
            assert torch.isfinite(gradient).all()
    total = torch.logaddexp(gate.log_prob_open(), gate.log_prob_closed())
    torch.testing.assert_close(total, torch.zeros_like(total), atol=1e-6, rtol=0)


@pytest.mark.parametrize(("a", "b"), PAIRS)
@pytest.mark.parametrize(("lower", "upper"), [(-0.1, 1.1), (-0.5, 1.01)])
def test_a_stretched_gate_has_total_mass_one_and_the_mean_of_its_mixture(a, b, lower, upper):
    gate = StretchedGate(*double(a, b), lower=lower, upper=upper)

    def between(z):
        return float(gate.log_prob(torch.tensor(z, dtype=torch.float64)).exp())

    mass, _ = scipy.integrate.quad(between, 0, 1)
    first_moment, _ = scipy.integrate.quad(lambda z: z * between(z), 0, 1)
    assert float(gate.prob_zero() + gate.prob_one()) + mass == pytest.approx(1, rel=1e-10)
    assert float(gate.mean) == pytest.approx(float(gate.prob_one()) + first_moment, rel=1e-10)


def test_stretched_log_prob_is_a_mass_at_the_ends_and_a_density_between():
    gate = StretchedGate(*double(0.7, 3.0))
    z = torch.tensor([0.0, 0.25, 1.0], dtype=torch.float64)
    inside = density((0.25 + 0.1) / 1.2, 0.7, 3.0) / 1.2
    expected = torch.tensor([float(gate.prob_zero()), inside, float(gate.prob_one())])
    torch.testing.assert_close(gate.log_prob(z).exp(), expected.double(), rtol=1e-6, atol=0)


def test_thresholded_log_prob_is_that_of_a_bernoulli():
    gate = ThresholdedGate(*pairs())
    z = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    torch.testing.assert_close(gate.log_prob(z), Bernoulli(gate.prob_one()).log_prob(z))


def test_continuous_log_prob_is_that_of_a_kumaraswamy():
    z = torch.tensor([[0.1], [0.8]], dtype=torch.float64)
    torch.testing.assert_close(
        ContinuousGate(*pairs()).log_prob(z), Kumaraswamy(*pairs()).log_prob(z)
    )


# Samples


@DTYPES
def test_thresholded_samples_are_hard_forward_and_soft_backward(dtype):
    a, b = (parameter.requires_grad_() for parameter in pairs(dtype))
    weights = torch.arange(1.0, 7.0, dtype=dtype)
    z = ThresholdedGate(a, b).rsample((50,), generator=seeded())
    u = ContinuousGate(a, b).rsample((50,), generator=seeded())
    assert set(z.unique().tolist()) == {0.0, 1.0}
    assert torch.equal(z, (u > 0.5).to(dtype))
    hard = torch.autograd.grad((weights * z).sum(), (a, b))
    soft = torch.autograd.grad((weights * u).sum(), (a, b))
    for straight_through, pathwise in zip(hard, soft, strict=True):
        assert torch.equal(straight_through, pathwise)
        assert (pathwise != 0).all()


def test_stretched_samples_are_rectified_and_pass_gradients_only_between():
    u = ContinuousGate(0.5, 0.5).sample((1000,), generator=seeded())
    a = torch.full((1000,), 0.5, requires_grad=True)
    z = StretchedGate(a, 0.5).rsample(generator=seeded())
    torch.testing.assert_close(z, (1.2 * u - 0.1).clamp(0, 1))
    z.sum().backward()
    between = (z > 0) & (z < 1)
    assert (z == 0).any()
    assert (z == 1).any()
    assert torch.equal(a.grad != 0, between)


@EVERY_FORM
def test_samples_depend_only_on_the_generator(form):
    gate = form(*pairs())
    first = gate.rsample((9,), generator=seeded(3))
    assert torch.equal(first, gate.sample((9,), generator=seeded(3)))
    assert not torch.equal(first, gate.sample((9,), generator=seeded(4)))
    assert not gate.sample().requires_grad


# Decisions


def test_a_decision_is_the_most_probable_of_closed_open_and_between():
    a, b = double([0.1, 5.0, 1.0], [5.0, 0.1, 1.0])
    assert ThresholdedGate(a, b, threshold=0.51).decision().tolist() == [0, 1, 0]
    gate = StretchedGate(a, b)
    zero, one = gate.prob_zero(), gate.prob_one()
    assert zero[0] > 0.5
    assert one[1] > 0.5
    assert 1 - zero[2] - one[2] > 0.5
    assert gate.decision().tolist() == pytest.approx([0, 1, 0.5])
    torch.testing.assert_close(ContinuousGate(a, b).decision(), Kumaraswamy(a, b).mean)


def test_a_decision_between_is_the_mean_of_the_samples_there():
    gate = StretchedGate(*double([1.0, 2.0, 3.0, 1.2], [1.3, 2.0, 8.0, 2.0]))
    z = gate.sample((SAMPLES,), generator=seeded())
    for i, decision in enumerate(gate.decision()):
        between = z[(z[:, i] > 0) & (z[:, i] < 1), i]
        assert len(between) > SAMPLES / 3
        assert_is_mean_of(between, decision)


# Divergence


@pytest.mark.parametrize(("p", "q"), list(itertools.product(PAIRS[::2], PAIRS[1::2])))
def test_stretched_divergence_matches_quadrature(p, q):
    def integrand(u):
        return density(u, *p) * np.log(density(u, *p) / density(u, *q))

    between, _ = scipy.integrate.quad(integrand, 1 / 12, 11 / 12, epsabs=1e-12)
    zeros = [-np.expm1(b * np.log1p(-((1 / 12) ** a))) for a, b in (p, q)]
    ones = [survival(11 / 12, *parameters) for parameters in (p, q)]
    masses = sum(x * np.log(x / y) for x, y in (zeros, ones))
    divergence = kl_divergence(StretchedGate(*double(*p)), StretchedGate(*double(*q)))
    assert float(divergence) == pytest.approx(masses + between, rel=1e-9)


def test_thresholded_divergence_is_that_of_two_bernoullis():
    a, b = pairs()
    p, q = ThresholdedGate(a, b), ThresholdedGate(b, a, threshold=0.3)
    expected = kl_divergence(Bernoulli(p.prob_one()), Bernoulli(q.prob_one()))
    torch.testing.assert_close(kl_divergence(p, q), expected)


@EVERY_FORM
def test_divergence_is_the_mean_log_ratio_of_samples(form):
    p, q = form(*pairs()), form(*(parameter.flip(0) for parameter in pairs()))
    z = p.sample((SAMPLES,), generator=seeded())
    assert_is_mean_of(p.log_prob(z) - q.log_prob(z), kl_divergence(p, q))


def test_divergence_between_different_stretches():
    p, q = StretchedGate(*pairs(), lower=-0.3), StretchedGate(*pairs(), upper=1.4)
    z = p.sample((SAMPLES,), generator=seeded())
    assert_is_mean_of(p.log_prob(z) - q.log_prob(z), kl_divergence(p, q))


@EVERY_FORM
@DTYPES
def test_divergence_is_finite_and_zero_from_itself(form, dtype):
    a, b = (parameter.requires_grad_() for parameter in wide_grid(dtype))
    p, q = form(a, b), form(b.detach().flip(0), a.detach())
    assert (kl_divergence(p, p) == 0).all()
    divergence = symmetric_kl(p, q)
    assert torch.isfinite(divergence).all()
    for gradient in torch.autograd.grad(divergence.sum(), (a, b)):
        assert torch.isfinite(gradient).all()


@EVERY_FORM
def test_symmetric_divergence_does_not_depend_on_the_order(form):
    a, b = pairs()
    p, q = form(a, b), form(b, a)
    torch.testing.assert_close(symmetric_kl(p, q), symmetric_kl(q, p))
    average = (kl_divergence(p, q) + kl_divergence(q, p)) / 2
    torch.testing.assert_close(symmetric_kl(p, q), average)
    assert (symmetric_kl(p, q)[torch.tensor([0, 1, 3, 4, 5])] > 0).all()  # a = b = 1 is symmetric


def test_gates_of_two_forms_have_no_divergence():
    with pytest.raises(NotImplementedError):
        kl_divergence(ThresholdedGate(1.0, 1.0), StretchedGate(1.0, 1.0))


# Every form


@EVERY_FORM
def test_gradients_match_finite_differences(form):
    a, b = double([0.3, 2.0, 5.0], [1.5, 0.6, 3.0], requires_grad=True)
    c, d = double([[1.0]], [[2.0]], requires_grad=True)

    def probabilities(a, b):
        gate = form(a, b)
        return gate.mean, gate.log_prob_open(), gate.log_prob_closed(), gate.prob_one()

    def divergence(a, b, c, d):
        return symmetric_kl(form(a, b), form(c, d))

    assert torch.autograd.gradcheck(probabilities, (a, b))
    assert divergence(a, b, c, d).shape == (1, 3)
    assert torch.autograd.gradcheck(divergence, (a, b, c, d))


@EVERY_FORM
@DTYPES
def test_shapes_and_dtype_are_those_of_the_parameters(form, dtype):
    gate = form(torch.ones(3, 1, dtype=dtype), torch.ones(2, dtype=dtype))
    assert gate.batch_shape == (3, 2)
    assert gate.rsample((5,)).shape == (5, 3, 2)
    assert gate.log_prob(gate.sample((5,))).shape == (5, 3, 2)
    methods = [gate.prob_zero, gate.prob_one, gate.prob_open, gate.prob_closed, gate.decision]
    for value in [gate.mean, gate.sample(), *(method() for method in methods)]:
        assert value.shape == (3, 2)
        assert value.dtype == dtype


@EVERY_FORM
@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 0)])
def test_empty_and_single_gates_work(form, shape):
    gate = form(torch.full(shape, 2.0), 3.0)
    for value in (gate.sample(), gate.mean, gate.prob_open(), gate.decision()):
        assert value.shape == shape
    assert kl_divergence(gate, gate).shape == shape


def test_expanding_keeps_the_form_and_its_options():
    stretched = StretchedGate(torch.tensor([1.0, 2.0]), 3.0, lower=-0.2, validate_args=False)
    wide = stretched.expand((4, 2))
    assert isinstance(wide, StretchedGate)
    assert wide.batch_shape == (4, 2)
    assert wide._validate_args is False
    torch.testing.assert_close(wide.prob_zero(), stretched.prob_zero().expand(4, 2))
    thresholded = ThresholdedGate(1.0, 2.0, threshold=0.2).expand((3,))
    torch.testing.assert_close(thresholded.prob_one(), torch.full((3,), 0.8**2))


@EVERY_FORM
def test_parameters_and_values_out_of_range_are_refused(form):
    with pytest.raises(ValueError, match="GreaterThan"):
        form(torch.tensor([1.0, 0.0]), 1.0, validate_args=True)
    gate = form(torch.ones(3), 1.0, validate_args=True)
    with pytest.raises(ValueError, match="within the support"):
        gate.log_prob(torch.tensor(1.5))
    with pytest.raises(ValueError, match="not broadcastable"):
        gate.log_prob(torch.ones(2))


@pytest.mark.parametrize("form", [ThresholdedGate, ContinuousGate])
@pytest.mark.parametrize("threshold", [0.0, 1.0, -1.0, float("nan")])
def test_a_threshold_outside_the_open_unit_interval_is_refused(form, threshold):
    with pytest.raises(ValueError, match=f"strictly between 0 and 1, got {threshold}"):
        form(1.0, 1.0, threshold=threshold)


@pytest.mark.parametrize(("lower", "upper"), [(0.0, 1.1), (-0.1, 1.0), (0.2, 0.8)])
def test_a_stretch_that_does_not_leave_the_unit_interval_is_refused(lower, upper):
    with pytest.raises(ValueError, match=f"`lower` < 0 and `upper` > 1, got lower={lower}"):
        StretchedGate(1.0, 1.0, lower=lower, upper=upper)
