import itertools

import pytest
import torch
from torch.nn import functional

from thresher.lm.losses.rare_tokens import (
    cosine_regularisation,
    gated_linear,
    gradient_gates,
    logit_adjustment,
    rare_token_adjustment,
)
from thresher.lm.output_layers.gated import GatedSoftmax


def double(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# Logit adjustment


def test_adjustment_is_the_log_of_the_relative_frequency():
    measured = logit_adjustment(torch.tensor([6, 3, 1]), tau=2.0)
    torch.testing.assert_close(measured, 2 * torch.tensor([0.6, 0.3, 0.1]).log())
    assert logit_adjustment(torch.tensor([6, 0])).isfinite().all()


def test_adjusted_training_removes_frequency_from_the_logits():
    """If the contexts carry no information, z becomes equal for all words."""
    counts = torch.tensor([60, 30, 10])
    target = torch.arange(3).repeat_interleave(counts)
    z = torch.zeros(3, requires_grad=True)
    optimiser = torch.optim.SGD([z], lr=1.0)
    with torch.no_grad():
        z.copy_(torch.tensor([2.0, -1.0, 0.5]))
    for _ in range(500):
        optimiser.zero_grad()
        logits = (z + logit_adjustment(counts)).expand(100, -1)
        functional.cross_entropy(logits, target).backward()
        optimiser.step()
    torch.testing.assert_close(z.softmax(0), torch.ones(3) / 3, atol=1e-3, rtol=0)


# Adjustment with a budget


def contexts(vocabulary=50):
    """Return p(token | context) of equally likely contexts: (contexts, vocabulary)."""
    ranks = torch.arange(1, vocabulary + 1, dtype=torch.float64)
    return (2 * double(300, vocabulary) - 1.5 * ranks.log()).softmax(1)


@pytest.mark.parametrize("budget", [0.001, 0.005, 0.05])
def test_a_calibrated_model_loses_no_more_than_the_budget(budget):
    p = contexts()
    adjusted = (p.log() - rare_token_adjustment(p.mean(0), budget=budget)).log_softmax(1)
    cost = (p * (p.log() - adjusted)).sum(1).mean().item()
    assert 0.05 * budget < cost <= budget + 1e-7


def test_without_contexts_the_budget_is_spent_exactly():
    p = contexts().mean(0)
    adjusted = (p.log() - rare_token_adjustment(p, budget=0.01)).log_softmax(0)
    assert (p * (p.log() - adjusted)).sum().item() == pytest.approx(0.01, rel=1e-4)


@pytest.mark.parametrize(("small", "large"), [(0, 0.001), (0.001, 0.01), (0.01, 100)])
def test_a_larger_budget_favours_rare_tokens_more(small, large):
    counts = torch.tensor([900, 90, 9, 1, 0])
    less, more = (rare_token_adjustment(counts, budget=each) for each in (small, large))
    assert (more <= less).all()
    assert (more.diff() <= 0).all()  # the rarer, the lower in training
    assert rare_token_adjustment(counts, budget=0).abs().max() < 1e-6


def test_only_tokens_rarer_than_the_mean_are_adjusted():
    adjustment = rare_token_adjustment(torch.tensor([900, 90, 9, 1]), budget=1e9)
    expected = -torch.tensor([250 / 900, 250 / 90, 250 / 9, 250]).log().clamp(0, 3)
    torch.testing.assert_close(adjustment, expected, atol=1e-5, rtol=0)
    assert rare_token_adjustment(torch.ones(4), budget=0.1).eq(0).all()


def test_a_negative_budget_is_an_error():
    with pytest.raises(ValueError, match="`budget` must be at least 0, got -1"):
        rare_token_adjustment(torch.ones(4), budget=-1)


# Cosine regularisation


def test_it_is_the_mean_cosine_over_pairs():
    weight = double(5, 3)
    pairs = itertools.permutations(range(5), 2)
    cosines = [functional.cosine_similarity(weight[i], weight[j], dim=0) for i, j in pairs]
    torch.testing.assert_close(cosine_regularisation(weight), sum(cosines) / 25)


def test_it_is_zero_for_one_vector_and_gradients_are_right():
    assert cosine_regularisation(double(1, 4)).abs() < 1e-12
    assert cosine_regularisation(torch.zeros(3, 4)) == 0
    assert torch.autograd.gradcheck(cosine_regularisation, double(4, 3).requires_grad_())


# Gradient gating


def test_only_rare_tokens_are_gated():
    gates = gradient_gates(torch.tensor([0.5, 0.01, 0.0, 0.002, 0.02]), threshold=0.02)
    assert gates.rare.tolist() == [False, True, True, True, False]
    torch.testing.assert_close(gates.by_common, torch.tensor([1, 0.01, 0, 0.002, 1]))
    torch.testing.assert_close(gates.by_rare, torch.tensor([1, 1, 0, 0.5, 1]))
    nothing_rare = gradient_gates(torch.tensor([0.5, 0.4]))
    assert nothing_rare.by_common.tolist() == nothing_rare.by_rare.tolist() == [1, 1]
    nothing_seen = gradient_gates(torch.zeros(2))
    assert nothing_seen.by_rare.tolist() == [0, 0]


def test_gradients_are_gated_by_role():
    hidden, weight = double(4, 3).requires_grad_(), double(5, 3, seed=1).requires_grad_()
    target = torch.tensor([0, 1, 4, -100])
    gates = gradient_gates(torch.tensor([0.5, 0.01, 0.0, 0.002, 0.02]))
    outside = double(4, 5, seed=2)
    logits = gated_linear(hidden, weight, target, gates)
    torch.testing.assert_close(logits, hidden @ weight.T, rtol=0, atol=0)
    logits.backward(outside)
    torch.testing.assert_close(hidden.grad, outside @ weight)
    for token in range(5):
        expected = torch.zeros(3, dtype=torch.float64)
        for row in range(4):
            if target[row] == token:
                gate = 1.0
            elif target[row] == 1:  # the one rare target
                gate = gates.by_rare[token].item()
            else:
                gate = gates.by_common[token].item()
            expected += gate * outside[row, token] * hidden[row].detach()
        torch.testing.assert_close(weight.grad[token], expected)


def test_a_layer_learns_how_often_each_token_is_a_target():
    layer = GatedSoftmax(3, 4, memory=50)
    hidden = torch.ones(6, 3)
    for step in range(400):
        rare = 3 if step % 10 == 0 else 1
        layer.loss(hidden, torch.tensor([0, 0, 0, 1, rare, -100]))
        if step == 0:
            assert layer.rates().tolist() == pytest.approx([3, 1, 0, 1])
    torch.testing.assert_close(layer.rates(), torch.tensor([3, 1.9, 0, 0.1]), atol=0.03, rtol=0.05)
    before = layer.rates().clone()
    layer.eval().loss(hidden, torch.full((6,), 2))
    assert torch.equal(layer.rates(), before)
    with pytest.raises(ValueError, match="`memory` must be at least 1 step, got 0"):
        GatedSoftmax(3, 4, memory=0)


def test_a_rare_token_is_pushed_less_by_a_gated_layer():
    layer = GatedSoftmax(3, 4, memory=100, bias=False)
    hidden, target = double(50, 3).float(), torch.zeros(50, dtype=torch.int64)
    target[1:3] = torch.tensor([1, 2])
    layer.loss(hidden, target).backward()
    gated = layer.weight.grad.clone()
    layer.weight.grad = None
    layer.threshold = 0.0
    layer.loss(hidden, target).backward()
    free = layer.weight.grad
    assert (gated[3] == 0).all()  # never a target
    assert free[3].norm() > 1e-4
    torch.testing.assert_close(gated[:3], free[:3])
