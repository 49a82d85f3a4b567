"""The probabilities of spans against the enumeration of all chains."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.entities.finding.span_model import (
    MIN_PROBABILITY,
    ChainInputs,
    SpanModel,
    best_span_threshold,
    span_probability,
    span_score,
)
from thresher.text.indexed_sentences import IndexedSentences

MODEL = SpanModel(scale=0.9, bias=2.5, start=0.05, continuation=-1.0, link=0.3)
INF = math.inf


def inputs(log_odds, links=None, can_start=None, can_end=None):
    size = len(log_odds)
    links = list(links if links is not None else [0.0] * size)
    links[-1] = -INF
    return ChainInputs(
        np.array(log_odds, dtype=np.float64),
        np.array(links, dtype=np.float64),
        np.zeros(size),
        np.array([True] * size if can_start is None else can_start),
        np.array([True] * size if can_end is None else can_end),
    )


def candidates(model, starts, given_inputs):
    """Return the candidates of each sentence; `starts` ends with the number of words."""
    words = np.zeros(starts[-1], dtype=np.int32)
    sentences = IndexedSentences(words, np.array(starts), ["word"])
    return model.candidates(sentences, given_inputs).by_sentence(sentences)


def enumerated(model, given_inputs):
    """Return P(span) of every span, by the weights of all sequences of O, B and I."""
    size = len(given_inputs.log_odds)
    odds = np.exp(np.minimum(model.scale * given_inputs.log_odds + model.bias, 8))
    go_on = model.continuations(given_inputs)
    totals, everything = {}, 0.0
    for tags in itertools.product("OBI", repeat=size):
        if any(a == "O" and b == "I" for a, b in itertools.pairwise(["O", *tags])):
            continue
        weight, spans = 1.0, []
        for i, tag in enumerate([*tags, "O"]):
            before = tags[i - 1] if i else "O"
            if tag == "I":
                weight *= go_on[i - 1] * odds[i]
                spans[-1][1] = i + 1
                continue
            if before != "O":
                weight *= (1 - go_on[i - 1]) * given_inputs.can_end[i - 1]
            if tag == "B":
                weight *= model.start * odds[i] * given_inputs.can_start[i]
                spans.append([i, i + 1])
            else:
                weight *= 1 - model.start
        everything += weight
        for start, end in spans:
            totals[start, end] = totals.get((start, end), 0.0) + weight
    return {span: total / everything for span, total in totals.items()}


def best_sum(probabilities, size):
    """Return the largest sum of probabilities of spans that do not overlap."""
    best = [0.0] * (size + 1)
    for end in range(1, size + 1):
        values = (best[s] + probabilities.get((s, end), 0.0) for s in range(end))
        best[end] = max(best[end - 1], *values)
    return best[size]


@given(
    log_odds=st.lists(st.floats(-3.5, 6), min_size=1, max_size=5),
    links=st.lists(st.floats(-8, 8), min_size=5, max_size=5),
    start_flags=st.lists(st.booleans(), min_size=5, max_size=5),
    end_flags=st.lists(st.booleans(), min_size=5, max_size=5),
)
def test_scores_of_candidates_are_the_probabilities_of_their_spans(
    log_odds, links, start_flags, end_flags
):
    size = len(log_odds)
    given_inputs = inputs(log_odds, links[:size], start_flags[:size], end_flags[:size])
    expected = enumerated(MODEL, given_inputs)
    (found,) = candidates(MODEL, [0, size], given_inputs)
    for each in found:
        score = span_score(expected[each.start, each.end])
        assert each.score == pytest.approx(score, rel=1e-9)
    likely = {span: p for span, p in expected.items() if p >= MIN_PROBABILITY}
    total = sum(expected[each.start, each.end] for each in found)
    assert total == pytest.approx(best_sum(likely, size), abs=1e-9)


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_score_of_a_span_rises_with_its_probability(low, high):
    low, high = sorted((low, high))
    assert 0 <= span_score(low) <= span_score(high) <= 1
    assert span_score(1.0) == span_probability(1.0) == 1
    assert span_probability(span_score(low)) == pytest.approx(low)
    if 1e-6 < low < 1 - 1e-6:
        log_odds = 0.7 * math.log(low / (1 - low)) - 0.6
        assert span_score(low) == pytest.approx(1 / (1 + math.exp(-log_odds)))


def test_a_certain_name_scores_nearly_one():
    (found,) = candidates(SpanModel(), [0, 1], inputs([9.0]))
    assert found[0].score > 0.95


def test_words_without_evidence_split_a_sentence_without_changing_it():
    """A word that cannot be in a name separates the chains beside it."""
    whole = inputs([3.0, 2.0, -INF, 4.0])
    (found,) = candidates(MODEL, [0, 4], whole)
    (left,) = candidates(MODEL, [0, 2], inputs([3.0, 2.0], [0.0, -INF]))
    assert [each.end for each in found if each.start < 2] == [each.end for each in left]
    assert all(not each.start <= 2 < each.end for each in found)


def test_joining_words_are_never_at_the_edge_of_a_name():
    can = [True, False, True]
    (found,) = candidates(MODEL, [0, 3], inputs([5.0, -1.0, 5.0], [4, 4, 4], can, can))
    assert {(each.start, each.end) for each in found} <= {(0, 1), (2, 3), (0, 3)}


def test_links_decide_between_one_name_and_two():
    one, two = (
        [(each.start, each.end) for each in candidates(MODEL, [0, 2], inputs([6, 6], links))[0]]
        for links in ([6.0, 0], [-30.0, 0])
    )
    assert one == [(0, 2)]
    strong = SpanModel(start=0.3, continuation=-6.0)
    (pairs,) = candidates(strong, [0, 2], inputs([6, 6], [-6.0, 0]))
    assert [(each.start, each.end) for each in pairs] == [(0, 1), (1, 2)]
    assert two[0][0] == 0


def test_sentences_do_not_share_names():
    found = candidates(MODEL, [0, 1, 2], inputs([6.0, 6.0], [-INF, -INF]))
    assert [[(each.start, each.end) for each in row] for row in found] == [[(0, 1)], [(0, 1)]]


@pytest.mark.parametrize(
    "values",
    [{"start": 0.0}, {"bias": math.nan}, {"link": math.inf}, {"scale": 0.0}, {"bias": 1e308}],
)
def test_parameters_outside_their_range_are_refused(values):
    with pytest.raises(ValueError, match="span model"):
        SpanModel(**values)


def test_the_threshold_maximizes_the_expected_f1_under_the_model():
    probabilities = [0.95, 0.9, 0.6, 0.3, 0.1]
    threshold = best_span_threshold([span_score(p) for p in probabilities])

    def expected_f1(kept):
        return 2 * sum(probabilities[:kept]) / (kept + sum(probabilities))

    best = max(range(1, 6), key=expected_f1)
    assert sum(span_score(p) >= threshold for p in probabilities) == best


def test_sentences_together_have_the_candidates_of_each_alone():
    random = np.random.default_rng(0)
    lengths = [1, 130, 3, 64, 65, 2, 17, 1]  # stretches of more than 64 words are cut
    starts = np.cumsum([0, *lengths]).tolist()
    words = starts[-1]
    links = random.normal(size=words)
    links[np.array(starts[1:]) - 1] = -INF
    values = (random.normal(0.5, 2, words), links, random.normal(size=words))
    flags = random.uniform(size=(2, words)) < 0.8
    together = candidates(MODEL, starts, ChainInputs(*values, *flags))
    for low, high, found in zip(starts[:-1], starts[1:], together, strict=True):
        own = ChainInputs(*(each[low:high] for each in (*values, *flags)))
        assert [found] == candidates(MODEL, [0, high - low], own)
    assert sum(map(len, together)) > 20
