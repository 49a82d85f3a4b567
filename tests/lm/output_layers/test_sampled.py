"""Layers trained on samples: what their losses estimate."""

import math

import pytest
import torch

from thresher.lm.output_layers.sampled import (
    NegativeSampling,
    NoiseContrastive,
    TargetSampling,
    noise_contrastive_loss,
)

COUNTS = torch.tensor([40, 25, 15, 10, 6, 4])
P = COUNTS.double() / COUNTS.sum()


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def fitted(layer, steps=800):
    """Trained on one context whose words occur as often as COUNTS."""
    layer = layer.double()
    hidden = torch.ones(100, layer.width, dtype=torch.float64)
    target = torch.arange(6).repeat_interleave(COUNTS)
    optimiser = torch.optim.Adam(layer.parameters(), lr=0.05)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.01, total_iters=steps)
    generator = seeded()
    for _ in range(steps):
        optimiser.zero_grad()
        layer.loss(hidden, target, generator=generator).backward()
        optimiser.step()
        schedule.step()
    return layer, hidden[:1]


@pytest.mark.parametrize("frequencies", [COUNTS, COUNTS.flip(0), None])
def test_noise_contrastive_estimation_converges_to_the_distribution_itself(frequencies):
    """exp s becomes p for any noise, although the loss never normalises it."""
    torch.manual_seed(0)
    layer, hidden = fitted(NoiseContrastive(3, 6, frequencies=frequencies, samples=50))
    torch.testing.assert_close(layer.scores(hidden)[0].exp(), P, rtol=0.05, atol=0.005)
    assert abs(layer.log_normaliser(hidden).item()) < 0.03


def test_noise_contrastive_estimation_starts_normalised():
    layer = NoiseContrastive(16, 1000, frequencies=1 / torch.arange(1, 1001))
    assert layer.log_normaliser(torch.randn(20, 16)).abs().max() < 0.1


def test_negative_sampling_learns_the_log_ratio_to_the_noise():
    """s = log(p / (k·q)), so softmax(s + log q) is p and softmax(s) is not."""
    torch.manual_seed(0)
    layer, hidden = fitted(NegativeSampling(3, 6, frequencies=COUNTS, samples=50))
    q = COUNTS.double() ** 0.75
    q /= q.sum()
    torch.testing.assert_close(layer.scores(hidden)[0], (P / (50 * q)).log(), rtol=0.05, atol=0.05)
    torch.testing.assert_close(layer.all_log_probs(hidden)[0].exp(), P, rtol=0.05, atol=0.005)
    assert (layer.scores(hidden)[0].softmax(0) - P).abs().max() > 0.1


def test_the_probability_of_text_is_p_over_p_plus_k_q():
    p, kq = torch.tensor([0.3, 0.02]).double(), torch.tensor([0.6, 0.5]).double()
    delta = (p / kq).log()
    from_text = p / (p + kq)
    measured = noise_contrastive_loss(delta[:1], delta[None, 1:])
    expected = -from_text[0].log() - (1 - from_text[1]).log()
    torch.testing.assert_close(measured[0], expected)


def test_target_sampling_estimates_the_normaliser_without_bias():
    torch.manual_seed(0)
    layer = TargetSampling(3, 6, frequencies=COUNTS, samples=4).double()
    with torch.no_grad():
        layer.bias.normal_()
    hidden, target = torch.randn(1, 3).double(), torch.tensor([2])
    scores = layer.scores(hidden)[0]
    generator = seeded()
    losses = torch.stack([layer.loss(hidden, target, generator=generator) for _ in range(4000)])
    estimates = (losses + scores[2]).exp()
    error = estimates.std() / math.sqrt(4000)
    assert estimates.std() > 0.1 * scores.exp().sum()
    assert abs(estimates.mean() - scores.exp().sum()) < 4 * error


def test_target_sampling_with_many_samples_is_the_full_softmax():
    torch.manual_seed(0)
    layer = TargetSampling(3, 6, frequencies=COUNTS, samples=200_000).double()
    with torch.no_grad():
        layer.bias.normal_()
    hidden, target = torch.randn(5, 3).double(), torch.tensor([0, 1, 2, 3, 5])
    measured = layer.loss(hidden, target, reduction="none", generator=seeded())
    torch.testing.assert_close(measured, -layer.log_prob(hidden, target), rtol=0.01, atol=0.01)


@pytest.mark.parametrize("kind", [NoiseContrastive, NegativeSampling, TargetSampling])
def test_a_word_never_seen_can_still_be_learned(kind):
    layer = kind(3, 4, frequencies=torch.tensor([5, 0, 3, 0]))
    hidden, target = torch.ones(2, 3), torch.tensor([1, 3])
    layer.loss(hidden, target, generator=seeded()).backward()
    assert layer.weight.grad.isfinite().all()
    assert (layer.weight.grad[[1, 3]] != 0).all()
    with pytest.raises(ValueError, match="`samples` must be at least 1, got 0"):
        kind(3, 4, samples=0)
