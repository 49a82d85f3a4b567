"""Fixed weights, and multipliers that follow their recursion and hold their target."""

import math

import pytest
import torch

from thresher.gates.lagrangian import OpenRateLimits, TermWeight


def test_a_fixed_weight_multiplies_and_stays():
    weight = TermWeight(0.5)
    value = torch.tensor(3.0, requires_grad=True)
    weight.penalty(value).backward()
    assert (weight.weight, float(value.grad)) == (0.5, 0.5)


def test_a_multiplier_follows_its_recursion_step_by_step():
    held = TermWeight(0.5, target=0.2, smoothing=0.9, step=0.3)
    average, weight = 0.0, 0.5
    for value in [0.9, 0.7, 0.1, 0.05, 0.4]:
        average = 0.9 * average + 0.1 * (value - 0.2)
        weight *= math.exp(0.3 * average)
        term = held.penalty(torch.tensor(value, dtype=torch.float64))
        assert held.weight == pytest.approx(weight)
        assert held.average == pytest.approx(average)
        assert float(term) == pytest.approx(weight * average)


@pytest.mark.parametrize(("start", "fraction"), [(0.8, 1.0), (0.1, 0.0)])
def test_the_gradient_is_that_of_the_weighted_value_while_it_is_above(start, fraction):
    held = TermWeight(0.5, target=0.2)
    value = torch.tensor(start, requires_grad=True)
    held.penalty(value).backward()
    assert float(value.grad) == pytest.approx(fraction * held.weight)


@pytest.mark.parametrize(("value", "bound"), [(1.0, 5.0), (0.0, 1e-4)])
def test_the_weight_stays_within_its_bounds(value, bound):
    held = TermWeight(1.0, target=0.5, smoothing=0.0, step=1.0)
    for _ in range(50):
        held.penalty(torch.tensor(value))
    assert held.weight == pytest.approx(bound)


@pytest.mark.parametrize("target", [0.1, 0.35, 0.7])
def test_a_multiplier_brings_a_rate_down_to_its_target_and_holds_it(target):
    """Minimise −log p, whose minimum is p = 1, subject to p ≤ target.

    At the optimum λ = 1/target; only above the target is it felt, so it must be at least that.
    """
    logit = torch.zeros((), dtype=torch.float64, requires_grad=True)
    held = TermWeight(0.1, target=target, step=0.05, max_weight=50.0)
    optimizer = torch.optim.SGD([logit], lr=0.05)
    late = []
    for step in range(2000):
        rate = torch.sigmoid(logit)
        optimizer.zero_grad()
        (-torch.log(rate) + held.penalty(rate)).backward()
        optimizer.step()
        if step >= 1800:
            late.append(float(rate.detach()))
    assert sum(late) / len(late) == pytest.approx(target, abs=0.02)
    assert max(late) - min(late) < 0.05
    assert 0.95 / target < held.weight < 10 / target


def test_the_weight_of_a_satisfied_constraint_vanishes():
    """Minimise (p − 0.2)² subject to p ≤ 0.9: the multiplier dies out and p is free."""
    rate = torch.tensor(0.5, requires_grad=True)
    held = TermWeight(1.0, target=0.9)
    optimizer = torch.optim.SGD([rate], lr=0.1)
    for _ in range(500):
        optimizer.zero_grad()
        ((rate - 0.2) ** 2 + held.penalty(rate)).backward()
        optimizer.step()
    assert held.weight == pytest.approx(1e-4)
    assert float(rate.detach()) == pytest.approx(0.2, abs=1e-3)


LIMITS = OpenRateLimits(low=0.01, high=0.6)


@pytest.mark.parametrize("selected", [0.0, 0.005])
def test_gates_closed_nearly_everywhere_are_described(selected):
    message = LIMITS.collapse(selected)
    assert message == f"closed nearly everywhere ({selected:.1%} of words selected)"


@pytest.mark.parametrize("selected", [0.61, 1.0])
def test_gates_open_on_most_words_are_described(selected):
    assert LIMITS.collapse(selected) == f"open on most words ({selected:.1%} of words selected)"


@pytest.mark.parametrize("selected", [0.01, 0.2, 0.6])
def test_gates_within_the_limits_have_not_collapsed(selected):
    assert LIMITS.collapse(selected) is None
