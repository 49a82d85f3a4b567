"""REINFORCE is unbiased against enumeration of all masks; pathwise is the plain gradient."""

import itertools

import pytest
import torch
from benchmarks.rationales.gradient_noise import gradient_noise

from thresher.maths.gate_forms import gate
from thresher.rationales.choices import Baseline, GradientEstimator
from thresher.rationales.estimators import (
    Pathwise,
    Reinforce,
    make_estimator,
)

OWNER = torch.tensor([0, 0, 0, 1, 1])
MEMBERS = torch.nn.functional.one_hot(OWNER).double()  # (words, texts)
WEIGHTS = torch.tensor([1.0, -2.0, 0.5, 3.0, 1.5], dtype=torch.float64)
MASKS = [
    torch.tensor(each, dtype=torch.float64)
    for each in itertools.product([0.0, 1.0], repeat=len(OWNER))
]


def parameters(*, seed=0):
    noise = torch.Generator().manual_seed(seed)
    a, b = torch.rand(2, len(OWNER), generator=noise, dtype=torch.float64) * 2 + 1
    return a.requires_grad_(), b.requires_grad_()


def losses(z):
    """One number a text, far from linear in its gates: (…, words) to (…, texts)."""
    sums = (WEIGHTS * z) @ MEMBERS
    return (sums - 0.7) ** 2 + torch.sin(3 * sums) + 2


class Drawn:
    """Gates whose samples are given."""

    def __init__(self, gates, samples):
        self.gates, self.samples = gates, iter(samples)

    def sample(self, *, generator):
        return next(self.samples)

    def log_prob(self, z):
        return self.gates.log_prob(z)


def expected_gradient(estimate, a, b):
    """The expectation of an estimate of the gradient, over every way its samples can fall."""
    gates = gate("thresholded", a, b)
    total = torch.zeros(2 * len(OWNER), dtype=torch.float64)
    for samples in itertools.product(MASKS, repeat=estimate.samples):
        estimate.average = 1.7  # of the past, which these samples have no part in
        chance = torch.exp(sum(gates.log_prob(z).sum() for z in samples)).detach()
        found = estimate(losses, Drawn(gates, samples), OWNER, generator=None)
        total += chance * torch.cat(torch.autograd.grad(found.surrogate, (a, b)))
    return total


def exact_gradient(a, b):
    """∇ of the mean loss, summed over all 2⁵ masks."""
    gates = gate("thresholded", a, b)
    expected = sum(torch.exp(gates.log_prob(z).sum()) * losses(z).mean() for z in MASKS)
    return torch.cat(torch.autograd.grad(expected, (a, b)))


@pytest.mark.parametrize(
    ("baseline", "samples"), [("none", 1), ("average", 1), ("others", 2), ("average", 2)]
)
def test_reinforce_is_unbiased_by_enumeration_of_all_masks(baseline, samples):
    a, b = parameters()
    found = expected_gradient(Reinforce(baseline, samples), a, b)
    torch.testing.assert_close(found, exact_gradient(a, b), rtol=1e-9, atol=1e-12)


def test_a_baseline_that_includes_its_own_sample_is_biased():
    class Cheat(Reinforce):
        def _baseline(self, loss):
            return loss / 2

    a, b = parameters()
    found = expected_gradient(Cheat("none"), a, b)
    assert not torch.allclose(found, exact_gradient(a, b), rtol=1e-2)


def test_reinforce_samples_the_gates_it_is_given():
    """The mean of many estimates, made of true samples, is the exact gradient."""
    a, b = parameters()
    noise = torch.Generator().manual_seed(5)
    estimate = Reinforce("others", 1000)
    found = estimate(losses, gate("thresholded", a, b), OWNER, generator=noise)
    gradient = torch.cat(torch.autograd.grad(found.surrogate, (a, b)))
    torch.testing.assert_close(gradient, exact_gradient(a, b), rtol=0.15, atol=0.05)


def pathwise_gradient(form, a, b, *, draws):
    noise = torch.Generator().manual_seed(7)
    z = gate(form, a, b).rsample((draws,), generator=noise)
    found = Pathwise()(lambda _: losses(z).mean(0), gate(form, a, b), OWNER, generator=noise)
    return torch.cat(torch.autograd.grad(found.surrogate, (a, b)))


def test_straight_through_gradients_are_biased():
    a, b = parameters()
    error = (pathwise_gradient("thresholded", a, b, draws=50_000) - exact_gradient(a, b)).abs()
    assert float(error.max()) > 0.2 * float(exact_gradient(a, b).abs().max())


def test_pathwise_gradients_of_stretched_gates_are_unbiased():
    """Against central differences of the mean over other noise."""
    a, b = parameters(seed=2)
    found = pathwise_gradient("stretched", a, b, draws=100_000)

    def mean_loss(a, b):
        noise = torch.Generator().manual_seed(11)
        return losses(gate("stretched", a, b).sample((100_000,), generator=noise)).mean()

    step = 1e-3
    for i in (0, 3):
        shift = step * torch.eye(len(OWNER), dtype=torch.float64)[i]
        slope = (mean_loss(a + shift, b) - mean_loss(a - shift, b)) / (2 * step)
        assert float(found[i]) == pytest.approx(float(slope.detach()), rel=0.1, abs=0.03)


def test_a_baseline_lowers_the_variance():
    a, b = parameters()

    def variance(estimate):
        noise = torch.Generator().manual_seed(0)

        def surrogate():
            gates = gate("thresholded", a, b)
            return estimate(lambda z: losses(z) + 10, gates, OWNER, generator=noise).surrogate

        surrogate()  # lets an average begin
        return gradient_noise(surrogate, [a, b], draws=150).variance

    plain = variance(Reinforce("none", 2))
    assert variance(Reinforce("average", 2)) < 0.5 * plain
    assert variance(Reinforce("others", 2)) < 0.5 * plain


def test_the_moving_average_follows_its_formula():
    estimate = Reinforce("average", smoothing=0.75)
    gates = gate("thresholded", *parameters())
    noise = torch.Generator().manual_seed(0)
    average = None
    for _ in range(5):
        seen = float(estimate(losses, gates, OWNER, generator=noise).loss)
        average = seen if average is None else 0.75 * average + 0.25 * seen
        assert estimate.average == pytest.approx(average)


def test_gradients_also_reach_other_parameters_of_the_losses():
    """A classifier that learns together with the gates gets the plain gradient of the mean loss."""
    gates = gate("thresholded", *parameters())
    scale = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    for estimate in (Pathwise(2), Reinforce("others", 2)):
        z = [gates.sample(generator=g) for g in [torch.Generator().manual_seed(1)] for _ in "12"]
        expected = torch.stack([losses(each) for each in z]).mean()
        found = estimate(
            lambda z: scale * losses(z), gates, OWNER, generator=torch.Generator().manual_seed(1)
        )
        (gradient,) = torch.autograd.grad(found.surrogate, scale)
        assert float(gradient) == pytest.approx(float(expected))
        assert float(found.loss) == pytest.approx(2 * float(expected))


def test_the_same_generator_gives_the_same_estimate():
    gates = gate("stretched", *parameters())
    first, second = (
        Pathwise()(losses, gates, OWNER, generator=torch.Generator().manual_seed(3)).loss
        for _ in range(2)
    )
    assert float(first) == float(second)


def test_unknown_names_are_answered_with_the_choices():
    with pytest.raises(
        ValueError, match="unknown `estimator` 'path'; choose from pathwise, reinforce"
    ):
        make_estimator("path")
    with pytest.raises(
        ValueError, match="unknown `baseline` 'mean'; choose from none, average, others"
    ):
        Reinforce("mean")
    with pytest.raises(ValueError, match="`samples` must be at least 2, got 1"):
        Reinforce("others")
    assert [type(make_estimator(name)) for name in GradientEstimator] == [Pathwise, Reinforce]
    assert all(Reinforce(name, 2).baseline == name for name in Baseline)
