"""Terms of the objective against closed forms, torch, enumeration and finite differences."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from thresher.gates.objective import (
    agreement,
    continuity,
    expected_selection,
    mean_continuity,
    mean_sparsity,
    pad_by_sentence,
    rate_divergence,
    sparsity,
)
from thresher.maths.gate_forms import GATE_FORMS, gate

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
OWNER = torch.tensor([0, 0, 0, 1, 2, 2])  # sentences of three words, one and two
LENGTHS = [3, 1, 2]


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


# Expectations over sentences


def probabilities(dtype=torch.float64):
    return torch.tensor([0.9, 0.2, 0.5, 0.3, 0.6, 0.1], dtype=dtype)


def enumerated(prob_closed, cost):
    """E[cost(open or closed)] over all masks of independent gates."""
    total = 0.0
    for mask in itertools.product([0, 1], repeat=len(prob_closed)):
        chance = math.prod(
            1 - float(p) if is_open else float(p)
            for p, is_open in zip(prob_closed, mask, strict=True)
        )
        total += chance * cost(mask)
    return total


def mean_over_sentences(per_sentence):
    """A cost of a flat mask: the mean over sentences of a cost of their own masks."""

    def cost(mask):
        starts = itertools.accumulate(LENGTHS, initial=0)
        rows = [mask[at : at + n] for at, n in zip(starts, LENGTHS, strict=False)]
        return sum(map(per_sentence, rows)) / len(rows)

    return cost


@DTYPES
def test_mean_sparsity_is_the_expected_fraction_of_open_gates_by_enumeration(dtype):
    p = probabilities(dtype)
    expected = enumerated(p, mean_over_sentences(lambda row: sum(row) / len(row)))
    value = mean_sparsity(*pad_by_sentence(p, OWNER))
    assert value.dtype == dtype
    assert float(value) == pytest.approx(expected, rel=1e-6)


@DTYPES
def test_mean_continuity_is_the_expected_number_of_changes_per_word_by_enumeration(dtype):
    p = probabilities(dtype)

    def changes(row):
        return sum(left != right for left, right in itertools.pairwise(row)) / len(row)

    expected = enumerated(p, mean_over_sentences(changes))
    assert float(mean_continuity(*pad_by_sentence(p, OWNER))) == pytest.approx(expected, rel=1e-6)


def test_sentences_of_one_word_have_no_changes():
    p = torch.tensor([0.4, 0.7], dtype=torch.float64)
    assert float(mean_continuity(*pad_by_sentence(p, torch.tensor([0, 1])))) == 0.0


def test_no_change_is_counted_between_two_sentences():
    alternating = torch.tensor([0.0, 1.0], dtype=torch.float64)
    assert float(mean_continuity(*pad_by_sentence(alternating, torch.tensor([0, 0])))) == 0.5
    assert float(mean_continuity(*pad_by_sentence(alternating, torch.tensor([0, 1])))) == 0.0


def test_the_expected_rate_is_that_of_all_words_together():
    mean = torch.tensor([1.0, 0.0, 0.2])
    assert float(expected_selection(mean, rate=0.4)) == pytest.approx(0.0, abs=1e-6)
    assert float(expected_selection(mean, rate=0.1)) == pytest.approx(0.3)
    assert float(expected_selection(mean, rate=0.9)) == pytest.approx(0.5)


def test_a_prior_concerns_its_own_word_and_the_rate_all_others():
    mean = torch.tensor([0.9, 0.5, 0.3, 0.1])
    prior = torch.tensor([1.0, 0.0, torch.nan, torch.nan])
    assert float(expected_selection(mean, prior=prior)) == pytest.approx((0.1 + 0.5) / 2)
    both = expected_selection(mean, prior=prior, rate=0.6)
    assert float(both) == pytest.approx((0.1 + 0.5) / 2 + abs(0.2 - 0.6))
    for_all = torch.tensor([1.0, 0.0, 0.3, 0.1])
    assert float(expected_selection(mean, prior=for_all, rate=0.6)) == pytest.approx(0.6 / 4)


def test_a_prior_without_probabilities_adds_nothing():
    mean = torch.tensor([0.9, 0.5], requires_grad=True)
    value = expected_selection(mean, prior=torch.full((2,), torch.nan))
    value.backward()
    assert float(value.detach()) == 0.0
    assert mean.grad.tolist() == [0.0, 0.0]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=6).filter(lambda n: n[-1] > 0))
def test_padded_rows_hold_every_value_once_and_nothing_else(lengths):
    values = torch.arange(1.0, sum(lengths) + 1)
    owner = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths))
    rows, inside = pad_by_sentence(values, owner)
    assert inside.sum(1).tolist() == lengths
    assert rows[inside].tolist() == values.tolist()
    assert float(rows[~inside].abs().sum()) == 0.0
