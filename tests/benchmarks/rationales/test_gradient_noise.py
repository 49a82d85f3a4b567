"""The noise of a gradient, for samples with known moments."""

import math

import pytest
import torch
from benchmarks.rationales.gradient_noise import GradientNoise, gradient_noise


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_variance_and_signal_are_those_of_the_noise(dtype):
    """∇ (θ·ε) = ε with ε ~ N(μ, σ²): the variance is Σσ², the signal ‖μ‖²."""
    theta = torch.ones(3, dtype=dtype, requires_grad=True)
    mean, deviation = torch.tensor([1.0, -2.0, 0.0]), torch.tensor([0.5, 1.0, 2.0])
    noise = torch.Generator().manual_seed(0)

    def surrogate():
        return (theta * (mean + deviation * torch.randn(3, generator=noise)).to(dtype)).sum()

    found = gradient_noise(surrogate, [theta], draws=4000)
    assert found.variance == pytest.approx(0.25 + 1 + 4, rel=0.06)
    assert found.signal == pytest.approx(5.0, rel=0.06)
    assert found.ratio == pytest.approx(found.variance / found.signal)


def test_a_gradient_without_noise_has_no_variance():
    weights = [torch.ones(2, requires_grad=True), torch.ones((), requires_grad=True)]
    found = gradient_noise(lambda: (weights[0] * 3).sum() * weights[1], weights, draws=5)
    assert found.variance == pytest.approx(0.0, abs=1e-9)
    assert found.signal == pytest.approx(9 + 9 + 36)


def test_signal_is_estimated_without_the_bias_of_few_draws():
    """The mean estimate for pure noise is 0, while ‖mean‖² alone would be variance / n."""
    theta = torch.ones(4, requires_grad=True)
    noise = torch.Generator().manual_seed(0)

    def surrogate():
        return (theta * torch.randn(4, generator=noise)).sum()

    found = [gradient_noise(surrogate, [theta], draws=4).signal for _ in range(400)]
    assert sum(found) / len(found) == pytest.approx(0.0, abs=0.15)


def test_no_signal_gives_an_infinite_ratio_and_one_draw_is_an_error():
    assert GradientNoise(1.0, -0.1).ratio == math.inf
    with pytest.raises(ValueError, match="at least 2, got 1"):
        gradient_noise(lambda: torch.ones(()), [], draws=1)
