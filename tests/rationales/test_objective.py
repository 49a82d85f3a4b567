"""Expected terms against samples, enumeration and finite differences."""

import itertools
import math
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from thresher.maths.gate_forms import GATE_FORMS, gate
from thresher.rationales.objective import expected_selection, expected_terms, pad_by_text

OWNER = torch.tensor([0, 0, 0, 1, 2, 2])  # texts of three words, one and two
LENGTHS = [3, 1, 2]
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
EVERY_FORM = pytest.mark.parametrize("form", sorted(GATE_FORMS))


def gates(form, *, seed=0):
    noise = torch.Generator().manual_seed(seed)
    a, b = torch.rand(2, len(OWNER), generator=noise, dtype=torch.float64) * 3 + 0.3
    return gate(form, a, b)


@EVERY_FORM
def test_terms_equal_the_mean_over_samples(form):
    distribution = gates(form)
    z = distribution.sample((40_000,), generator=torch.Generator().manual_seed(1))
    is_open = z > 0 if form == "stretched" else z > 0.5
    rows = is_open.double().split(LENGTHS, dim=1)
    fraction = torch.stack([row.mean(1) for row in rows]).mean()
    turns = torch.stack([row.diff(dim=1).abs().sum(1) / row.shape[1] for row in rows]).mean()
    terms = expected_terms(distribution, OWNER, rate=0.3)
    assert float(terms["sparsity"]) == pytest.approx(float(fraction), abs=5e-3)
    assert float(terms["continuity"]) == pytest.approx(float(turns), abs=5e-3)
    assert float(terms["selection"]) == pytest.approx(float((z.mean() - 0.3).abs()), abs=5e-3)


@EVERY_FORM
def test_gradients_of_every_term_are_those_of_finite_differences(form):
    noise = torch.Generator().manual_seed(3)
    a, b = torch.rand(2, len(OWNER), generator=noise, dtype=torch.float64) * 3 + 0.5
    prior = torch.tensor([0.9, torch.nan, 0.1, torch.nan, torch.nan, 0.2], dtype=torch.float64)

    def terms(a, b):
        found = expected_terms(gate(form, a, b), OWNER, rate=0.2, prior=prior)
        return tuple(found.values())

    assert torch.autograd.gradcheck(terms, (a.requires_grad_(), b.requires_grad_()))


def test_without_a_rate_or_prior_there_is_no_selection_term():
    assert set(expected_terms(gates("thresholded"), OWNER)) == {"sparsity", "continuity"}


def probabilities(dtype=torch.float64):
    return torch.tensor([0.9, 0.2, 0.5, 0.3, 0.6, 0.1], dtype=dtype)


def terms_of(prob_closed, text_of_word=OWNER):
    return expected_terms(SimpleNamespace(prob_closed=lambda: prob_closed), text_of_word)


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


def mean_over_texts(per_sentence):
    """A cost of a flat mask: the mean over texts of a cost of their own masks."""

    def cost(mask):
        starts = itertools.accumulate(LENGTHS, initial=0)
        rows = [mask[at : at + n] for at, n in zip(starts, LENGTHS, strict=False)]
        return sum(map(per_sentence, rows)) / len(rows)

    return cost


@DTYPES
def test_sparsity_is_the_expected_fraction_of_open_gates_by_enumeration(dtype):
    p = probabilities(dtype)
    expected = enumerated(p, mean_over_texts(lambda row: sum(row) / len(row)))
    value = terms_of(p)["sparsity"]
    assert value.dtype == dtype
    assert float(value) == pytest.approx(expected, rel=1e-6)


@DTYPES
def test_continuity_is_the_expected_number_of_changes_per_word_by_enumeration(dtype):
    p = probabilities(dtype)

    def changes(row):
        return sum(left != right for left, right in itertools.pairwise(row)) / len(row)

    expected = enumerated(p, mean_over_texts(changes))
    assert float(terms_of(p)["continuity"]) == pytest.approx(expected, rel=1e-6)


def test_texts_of_one_word_have_no_changes():
    p = torch.tensor([0.4, 0.7], dtype=torch.float64)
    assert float(terms_of(p, torch.tensor([0, 1]))["continuity"]) == 0.0


def test_no_change_is_counted_between_two_texts():
    alternating = torch.tensor([0.0, 1.0], dtype=torch.float64)
    assert float(terms_of(alternating, torch.tensor([0, 0]))["continuity"]) == 0.5
    assert float(terms_of(alternating, torch.tensor([0, 1]))["continuity"]) == 0.0


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
    rows, inside = pad_by_text(values, owner)
    assert inside.sum(1).tolist() == lengths
    assert rows[inside].tolist() == values.tolist()
    assert float(rows[~inside].abs().sum()) == 0.0
