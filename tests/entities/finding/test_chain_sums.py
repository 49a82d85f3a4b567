"""Sums over many stretches at once against a recursion over each, and chosen spans against all."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.entities.finding.chain_sums import (
    MAX_SPAN,
    ChainWeights,
    best_spans,
    span_probabilities,
)

START = 0.05


def chain_weight(odds, go_on, can_start, can_end, forced=None):
    """Return the weight of all chains, or of those with one forced span, by recursion.

    forced: (start, end)
    """
    size = len(odds)

    def from_word(i, inside):
        """Return the weight of the words from i on, after a word that is inside or outside."""
        leave = (1 - go_on[i - 1]) * can_end[i - 1] if inside else 1.0
        if i == size:
            return leave * (1 - START)
        must_start = forced is not None and i == forced[0]
        in_span = forced is not None and forced[0] < i < forced[1]
        after_span = forced is not None and i == forced[1]
        total = 0.0
        if not must_start and not in_span:
            total += leave * (1 - START) * from_word(i + 1, False)
        if not in_span:
            total += leave * START * can_start[i] * odds[i] * from_word(i + 1, True)
        if inside and not must_start and not after_span:
            total += go_on[i - 1] * odds[i] * from_word(i + 1, True)
        return total

    return from_word(0, False)


@given(
    lengths=st.lists(st.integers(1, 7), min_size=1, max_size=6),
    gaps=st.lists(st.integers(0, 2), min_size=6, max_size=6),
    seed=st.integers(0, 2**32 - 1),
)
def test_probabilities_of_many_stretches_are_those_of_each(lengths, gaps, seed):
    gaps = gaps[: len(lengths)]
    first = np.cumsum(np.add(gaps, [0, *lengths[:-1]]))
    end = first + lengths
    random = np.random.default_rng(seed)
    words = int(end[-1])
    odds, go_on = np.exp(random.normal(1, 2, words)), random.uniform(size=words)
    can_start, can_end = random.uniform(size=(2, words)) < 0.7
    go_on[~can_end] = 1.0
    weights = ChainWeights.of(START, odds, go_on, can_start, can_end)
    found = span_probabilities(first, end, weights, at_least=0.02)
    found = {(start, stop): p for start, stop, p in zip(*map(list, found), strict=True)}
    expected = {}
    for low, high in zip(first, end, strict=True):
        own = [each[low:high] for each in (odds, go_on, can_start, can_end)]
        total = chain_weight(*own)
        for start, stop in itertools.combinations(range(high - low + 1), 2):
            expected[low + start, low + stop] = chain_weight(*own, forced=(start, stop)) / total
    assert found.keys() <= expected.keys()
    for span, probability in expected.items():
        if abs(probability - 0.02) > 1e-9:
            assert (span in found) == (probability >= 0.02)
        if span in found:
            assert found[span] == pytest.approx(probability, rel=1e-9)


def test_spans_have_at_most_sixteen_words():
    size = 3 * MAX_SPAN
    certain, possible = np.full(size, 1 - 1e-6), np.ones(size, dtype=np.bool_)
    weights = ChainWeights.of(START, np.full(size, 9.0), certain, possible, possible)
    first, end = np.array([0]), np.array([size])
    starts, ends, _ = span_probabilities(first, end, weights, at_least=0.0)
    assert (ends - starts).max() == MAX_SPAN


def test_no_stretches_have_no_spans():
    none, nothing = np.zeros(0, np.int64), np.zeros(0)
    weights = ChainWeights.of(START, nothing, nothing, nothing > 0, nothing > 0)
    assert [len(each) for each in span_probabilities(none, none, weights, at_least=0.02)] == [0] * 3
    assert [len(each) for each in best_spans(none, none, nothing)] == [0] * 3


@given(
    st.dictionaries(st.tuples(st.integers(0, 9), st.integers(1, 4)), st.floats(0.02, 1), max_size=9)
)
def test_chosen_spans_have_the_largest_sum_of_all_sets_without_overlaps(lengths):
    spans = {(start, start + length): p for (start, length), p in lengths.items()}
    arrays = np.array(list(spans), dtype=np.int64).reshape(-1, 2).T
    columns = best_spans(*arrays, np.array(list(spans.values())))
    found = list(zip(*(each.tolist() for each in columns), strict=True))

    def is_free(chosen):
        return all(a[1] <= b[0] for a, b in itertools.pairwise(sorted(chosen)))

    assert all(spans[start, end] == p for start, end, p in found)
    assert is_free([span[:2] for span in found])
    assert [span[:2] for span in found] == sorted(span[:2] for span in found)
    sets = itertools.chain.from_iterable(
        itertools.combinations(spans, size) for size in range(len(spans) + 1)
    )
    best = max(sum(map(spans.get, chosen)) for chosen in sets if is_free(chosen))
    assert sum(p for *_, p in found) == pytest.approx(best, abs=1e-12)
