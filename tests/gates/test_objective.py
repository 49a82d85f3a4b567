"""Terms of the objective against closed forms and torch."""

import math

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from thresher.gates.objective import agreement, continuity, rate_divergence, sparsity
from thresher.maths.gate_forms import GATE_FORMS, gate

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def noise(*shape, dtype=torch.float32, seed=0):
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


# Sparsity and continuity


def test_sparsity_is_the_fraction_of_open_words():
    assert float(sparsity(torch.tensor([1.0, 0.0, 0.0, 0.5]))) == pytest.approx(1.5 / 4)


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_rate_divergence_is_the_kl_of_bernoulli_variables_and_acts_from_both_sides(rate):
    for mean in (rate / 2, rate, (1 + rate) / 2):
        p = torch.tensor([mean - 0.01, mean + 0.01], dtype=torch.float64, requires_grad=True)
        loss = rate_divergence(p, rate)
        expected = rate * math.log(rate / mean) + (1 - rate) * math.log((1 - rate) / (1 - mean))
        assert loss.item() == pytest.approx(expected, abs=1e-9)
        (gradient,) = torch.autograd.grad(loss, p)
        assert torch.sign(gradient.round(decimals=9)).tolist() == [np.sign(mean - rate)] * 2


def test_rate_divergence_of_closed_gates_has_a_finite_gradient():
    p = torch.zeros(3, requires_grad=True)
    (gradient,) = torch.autograd.grad(rate_divergence(p, 0.1), p)
    assert gradient.isfinite().all()


@given(st.lists(st.lists(st.floats(0, 1), max_size=5), min_size=1, max_size=5))
def test_continuity_counts_changes_inside_sentences_and_never_across(rows):
    z = torch.tensor([each for row in rows for each in row], dtype=torch.float64)
    assume(len(z))
    sentence = torch.tensor([i for i, row in enumerate(rows) for _ in row])
    changes = sum(abs(row[i + 1] - row[i]) for row in rows for i in range(len(row) - 1))
    assert float(continuity(z, sentence)) == pytest.approx(changes / len(z), abs=1e-12)


def test_sentences_with_equal_gates_have_no_changes():
    z, sentence = torch.tensor([1.0, 1, 0, 0, 1]), torch.tensor([0, 0, 1, 1, 2])
    assert float(continuity(z, sentence)) == 0.0


# Agreement with the prior


@DTYPES
@pytest.mark.parametrize("form", sorted(GATE_FORMS))
def test_agreement_is_torch_s_cross_entropy_over_the_words_the_prior_knows(form, dtype):
    a, b = noise(6, dtype=dtype).exp() + 1, noise(6, dtype=dtype, seed=1).exp() + 1
    prior = torch.tensor([1.0, 0.0, math.nan, 0.3, math.nan, 0.8], dtype=dtype)
    speaks = ~prior.isnan()
    gates = gate(form, a, b)
    expected = torch.nn.functional.binary_cross_entropy(gates.prob_open()[speaks], prior[speaks])
    torch.testing.assert_close(agreement(gates, prior), expected, rtol=1e-4, atol=1e-6)


def test_words_without_a_prior_have_no_gradient():
    a = torch.tensor([2.0, 3.0, 1.5], requires_grad=True)
    prior = torch.tensor([1.0, math.nan, 0.0])
    (gradient,) = torch.autograd.grad(agreement(gate("thresholded", a, a), prior), a)
    assert gradient.isfinite().all()
    assert gradient[1] == 0
    assert (gradient[[0, 2]] != 0).all()


def test_a_prior_without_probabilities_agrees_with_everything():
    gates = gate("thresholded", torch.ones(3), torch.ones(3))
    assert float(agreement(gates, torch.full((3,), math.nan))) == 0.0


@pytest.mark.parametrize("rate", [0.2, 0.5, 0.9])
def test_agreement_is_lowest_if_gates_open_at_the_rate_of_the_prior(rate):
    rates = torch.linspace(0.01, 0.99, 99)
    losses = [
        agreement(gate("thresholded", 1.0, -torch.log2(each)), torch.tensor(rate))
        for each in rates  # with a = 1 and b = −log₂ rate, P(open) is the rate
    ]
    assert float(rates[torch.stack(losses).argmin()]) == pytest.approx(rate, abs=0.005)
