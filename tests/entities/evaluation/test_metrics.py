import itertools
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from seqeval.metrics import f1_score, precision_score, recall_score
from sklearn.metrics import average_precision_score, precision_recall_fscore_support

from thresher.entities.evaluation import (
    Bin,
    Calibration,
    Counts,
    calibration,
    span_counts,
    word_average_precision,
    word_counts,
)
from thresher.entities.finding.decoding import Candidate

NOWHERE = [[], []]


@st.composite
def spans_of(draw, length):
    """Non-overlapping spans of a sentence, neighbours allowed."""
    edges = draw(st.lists(st.integers(0, length), unique=True, max_size=6).map(sorted))
    return [pair for pair in itertools.pairwise(edges) if draw(st.booleans())]


@st.composite
def scored_words(draw):
    """Gold spans and word scores of some sentences; few distinct scores, so that there are ties."""
    lengths = draw(st.lists(st.integers(0, 6), min_size=1, max_size=5))
    gold = [draw(spans_of(length)) for length in lengths]
    score = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]) | st.floats(0, 1, width=32)
    scores = [
        np.array(draw(st.lists(score, min_size=n, max_size=n)), dtype=np.float32) for n in lengths
    ]
    return gold, scores


@st.composite
def scored_spans(draw):
    """The lengths of some sentences, their gold spans, and candidates of any score."""
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=6))
    gold = [draw(spans_of(length)) for length in lengths]
    found = [
        [Candidate(*pair, score=draw(st.floats(0, 1))) for pair in draw(spans_of(length))]
        for length in lengths
    ]
    return lengths, gold, found


def labels_of(gold, lengths):
    return [
        any(start <= i < end for start, end in spans)
        for spans, length in zip(gold, lengths, strict=True)
        for i in range(length)
    ]


def tags_of(spans, length):
    tags = ["O"] * length
    for start, end in spans:
        tags[start:end] = ["B-ENT"] + ["I-ENT"] * (end - start - 1)
    return tags


# Words


@given(scored_words())
def test_average_precision_is_that_of_scikit_learn_ties_included(sample):
    gold, scores = sample
    labels = labels_of(gold, map(len, scores))
    expected = average_precision_score(labels, np.concatenate(scores)) if any(labels) else 0.0
    assert word_average_precision(gold, scores) == pytest.approx(expected)


def test_average_precision_of_one_ranking_by_hand():
    scores = [np.array([0.9, 0.8, 0.1]), np.array([0.7])]
    # ranked: right, wrong, right, wrong
    assert word_average_precision([[(0, 1)], [(0, 1)]], scores) == pytest.approx((1 + 2 / 3) / 2)


def test_average_precision_of_one_score_for_all_words_is_the_base_rate():
    assert word_average_precision([[(1, 3)]], [np.full(8, 0.4)]) == pytest.approx(2 / 8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_perfect_ranking_has_average_precision_one(dtype):
    scores = [np.array([0.1, 0.8, 0.9], dtype=dtype)]
    assert word_average_precision([[(1, 3)]], scores) == 1.0


@given(scored_words(), st.sampled_from([0.0, 0.25, 0.3, 1.0]))
def test_word_counts_give_the_figures_of_scikit_learn(sample, threshold):
    gold, scores = sample
    labels = labels_of(gold, map(len, scores))
    assume(labels)
    precision, recall, f1, _ = precision_recall_fscore_support(
        labels, np.concatenate(scores) >= threshold, average="binary", zero_division=0
    )
    counts = word_counts(gold, scores, threshold=threshold)
    assert (counts.precision, counts.recall, counts.f1) == pytest.approx((precision, recall, f1))


def test_a_word_at_the_threshold_is_selected():
    counts = word_counts([[(0, 1)]], [np.array([0.5, 0.4])], threshold=0.5)
    assert counts == Counts(correct=1, predicted=1, gold=1)


def test_overlapping_gold_spans_count_a_word_once():
    assert word_counts([[(0, 2), (1, 3)]], [np.ones(3)], threshold=0.5).gold == 3


# Spans


@given(scored_spans(), st.sampled_from([0.0, 0.5]))
def test_span_counts_give_the_figures_of_seqeval(sample, threshold):
    lengths, gold, found = sample
    kept = [[(c.start, c.end) for c in each if c.score >= threshold] for each in found]
    true = [tags_of(*each) for each in zip(gold, lengths, strict=True)]
    predicted = [tags_of(*each) for each in zip(kept, lengths, strict=True)]
    counts = span_counts(gold, found, threshold=threshold)
    expected = [
        measure(true, predicted, zero_division=0)
        for measure in (precision_score, recall_score, f1_score)
    ]
    assert (counts.precision, counts.recall, counts.f1) == pytest.approx(expected)


def test_a_span_is_right_only_if_both_ends_are():
    gold = [[(1, 3)]]
    for start, end in [(0, 3), (1, 2), (1, 4), (2, 3)]:
        assert span_counts(gold, [[Candidate(start, end, 1.0)]]).correct == 0
    assert span_counts(gold, [[Candidate(1, 3, 1.0)]]).f1 == 1.0


def test_a_span_is_right_only_in_its_own_sentence():
    counts = span_counts([[(0, 1)], []], [[], [Candidate(0, 1, 1.0)]])
    assert counts == Counts(correct=0, predicted=1, gold=1)


# Calibration


@given(scored_spans(), st.integers(1, 12))
def test_calibration_error_is_the_weighted_gap_over_bins(sample, bins):
    _, gold, found = sample
    pairs = [
        (each.score, (each.start, each.end) in spans)
        for spans, candidates in zip(gold, found, strict=True)
        for each in candidates
    ]
    error = 0.0
    for k in range(bins):
        inside = [p for p in pairs if min(int(p[0] * bins), bins - 1) == k]
        if inside:
            gap = np.mean([right for _, right in inside]) - np.mean([s for s, _ in inside])
            error += len(inside) / len(pairs) * abs(gap)
    result = calibration(gold, found, bins=bins)
    assert result.error == pytest.approx(error)
    assert sum(each.count for each in result.bins) == len(pairs)


def test_scores_that_are_probabilities_have_almost_no_calibration_error():
    rng = np.random.default_rng(0)
    scores = rng.random(40_000)
    gold = [[(0, 1)] if right else [] for right in rng.random(len(scores)) < scores]
    calibrated = [[Candidate(0, 1, float(score))] for score in scores]
    sure = [[Candidate(0, 1, 1.0)] for _ in scores]
    assert calibration(gold, calibrated).error < 0.02
    assert calibration(gold, sure).error == pytest.approx(1 - scores.mean(), abs=0.01)


def test_bins_have_counts_mean_scores_and_accuracies():
    found = [[Candidate(0, 1, 0.92), Candidate(2, 3, 0.98), Candidate(4, 5, 0.13)]]
    result = calibration([[(0, 1)]], found)
    assert len(result.bins) == 10
    assert result.bins[9] == Bin(0.9, 1.0, 2, pytest.approx(0.95), 0.5)
    assert result.bins[1] == Bin(0.1, 0.2, 1, pytest.approx(0.13), 0.0)
    assert result.error == pytest.approx((2 * 0.45 + 0.13) / 3)


@pytest.mark.parametrize("score", [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
def test_a_score_on_an_edge_falls_into_the_bin_above_and_one_into_the_last(score):
    result = calibration([[]], [[Candidate(0, 1, score)]])
    assert [each.count for each in result.bins].index(1) == min(round(score * 10), 9)


# Nothing to measure, and input that cannot be measured


def test_with_no_gold_and_no_prediction_every_figure_is_zero_without_a_warning():
    nothing = [np.zeros(0, dtype=np.float32), np.zeros(2, dtype=np.float32)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert word_average_precision(NOWHERE, nothing) == 0.0
        assert word_average_precision([], []) == 0.0
        for counts in (
            word_counts(NOWHERE, nothing, threshold=0.5),
            word_counts([], [], threshold=0.5),
            span_counts(NOWHERE, NOWHERE),
            span_counts([], []),
        ):
            assert (counts.precision, counts.recall, counts.f1) == (0.0, 0.0, 0.0)
        assert calibration([], []).error == 0.0
    assert calibration(NOWHERE, NOWHERE) == Calibration(
        tuple(Bin(k / 10, (k + 1) / 10, 0, 0.0, 0.0) for k in range(10))
    )


def test_gold_of_other_sentences_is_refused_with_both_lengths():
    with pytest.raises(ValueError, match="for 2 sentences, predictions for 1"):
        span_counts(NOWHERE, [[]])
    with pytest.raises(ValueError, match="for 2 sentences, predictions for 1"):
        word_average_precision(NOWHERE, [np.zeros(3)])


@pytest.mark.parametrize("span", [(0, 4), (-1, 1), (2, 2), (2, 1)])
def test_a_gold_span_outside_its_sentence_is_refused(span):
    with pytest.raises(ValueError, match=rf"end <= 3.*sentence 0 has \({span[0]}, {span[1]}\)"):
        word_counts([[span]], [np.zeros(3)], threshold=0.5)


def test_scores_that_are_not_probabilities_are_refused():
    with pytest.raises(ValueError, match=r"between 0 and 1, got 1.5"):
        calibration([[]], [[Candidate(0, 1, 1.5)]])
    with pytest.raises(ValueError, match=r"between 0 and 1, got nan"):
        calibration([[]], [[Candidate(0, 1, float("nan"))]])
    with pytest.raises(ValueError, match="NaN"):
        word_average_precision([[(0, 1)]], [np.array([np.nan])])
    with pytest.raises(ValueError, match="`bins` must be at least 1, got 0"):
        calibration([[]], [[]], bins=0)
