from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from thresher.entities.finding.signal_weights import MIN_ANCHORS, SignalWeights
from thresher.entities.finding.signals import SignalExtractor, WordSignals
from thresher.entities.priors.casing import Casing
from thresher.gates.selector import seeded_selector
from thresher.gates.word_vectors import encode_words


def lowered(sentences):
    return [[word.lower() for word in words] for words in sentences]


def signals_of(casing, repeated=None, possible=None):
    casing = np.asarray(casing, dtype=np.int8)
    return WordSignals(
        casing=casing,
        repeated=np.zeros(len(casing), bool) if repeated is None else np.asarray(repeated),
        possible=np.ones(len(casing), bool) if possible is None else np.asarray(possible),
    )


def simulated(words, *, capital, repeated, silent=0.3, wrong=0.0, seed=0):
    """Return gates that know the label, and signals drawn from capital[label], repeated[label].

    wrong: the fraction of words with a confident but wrong gate
    """
    rng = np.random.default_rng(seed)
    label = (rng.random(words) < 0.2).astype(int)
    seems = np.where(rng.random(words) < wrong, 1 - label, label)
    gate = np.where(seems, 0.9 + 0.1 * rng.random(words), 0.02 * rng.random(words))
    case = np.where(rng.random(words) < np.take(capital, label), Casing.CAPITAL, Casing.LOWER)
    case[rng.random(words) < silent] = Casing.UNINFORMATIVE
    again = rng.random(words) < np.take(repeated, label)
    return gate.astype(np.float32), signals_of(case, again)


# SignalWeights


@pytest.mark.parametrize(
    ("capital", "repeated"), [((0.05, 0.9), (0.1, 0.4)), ((0.4, 0.6), (0.02, 0.5))]
)
def test_weights_recover_known_likelihood_ratios_up_to_a_common_factor(capital, repeated):
    weights = SignalWeights.estimate(*simulated(200_000, capital=capital, repeated=repeated))
    truth = np.log(
        [
            capital[1] / capital[0],
            (1 - capital[1]) / (1 - capital[0]),
            repeated[1] / repeated[0],
        ]
    )
    found = np.array([weights.capital, weights.lower, weights.repeated])
    factor = (found @ truth) / (truth @ truth)
    assert 0 < factor <= 1
    np.testing.assert_allclose(found / factor, truth, rtol=0.05, atol=0.03)


def test_a_signal_independent_of_the_label_gets_no_weight():
    weights = SignalWeights.estimate(*simulated(200_000, capital=(0.3, 0.3), repeated=(0.2, 0.2)))
    assert [weights.capital, weights.lower, weights.repeated] == pytest.approx([0, 0, 0], abs=0.02)


def test_a_signal_that_contradicts_the_label_counts_against_it():
    weights = SignalWeights.estimate(*simulated(20_000, capital=(0.8, 0.1), repeated=(0.5, 0.1)))
    assert weights.capital < 0 < weights.lower
    assert weights.repeated < 0


def test_a_worse_gate_leads_to_smaller_weights():
    views = {"capital": (0.05, 0.9), "repeated": (0.05, 0.5)}
    good = SignalWeights.estimate(*simulated(50_000, **views))
    worse = SignalWeights.estimate(*simulated(50_000, **views, wrong=0.1))
    assert 0 < worse.capital < good.capital
    assert 0 < worse.repeated < good.repeated


def test_weights_are_finite_for_values_that_never_occur_with_a_label():
    weights = SignalWeights.estimate(*simulated(1000, capital=(0.0, 1.0), repeated=(0.0, 0.0)))
    assert np.isfinite([weights.capital, weights.lower, weights.repeated]).all()
    assert weights.lower < 0 < weights.capital


def test_only_anchors_are_counted():
    gate, signals = simulated(5000, capital=(0.05, 0.9), repeated=(0.1, 0.4))
    case = np.where(np.arange(5000) % 2, Casing.CAPITAL, Casing.LOWER)
    unsure = np.concatenate([gate, np.full(5000, 0.4, dtype=np.float32)])
    more = signals_of(
        np.concatenate([signals.casing, case]),
        np.concatenate([signals.repeated, case == Casing.LOWER]),
    )
    assert SignalWeights.estimate(unsure, more) == SignalWeights.estimate(gate, signals)


def test_case_counts_fully_if_it_is_the_only_other_signal():
    gate, signals = simulated(200_000, capital=(0.05, 0.9), repeated=(0.1, 0.4))
    weights = SignalWeights.estimate(gate, replace(signals, repeated=None))
    truth = np.log([0.9 / 0.05, 0.1 / 0.95])
    np.testing.assert_allclose([weights.capital, weights.lower], truth, rtol=0.05)
    assert weights.repeated == 0
    scores = weights.combine(gate, replace(signals, repeated=None))
    np.testing.assert_array_equal(scores, weights.combine(gate, signals))


def test_with_too_few_anchors_all_weights_are_zero():
    few = MIN_ANCHORS - 1
    gate = np.array([0.99] * few + [0.001] * 500, dtype=np.float32)
    case = [Casing.CAPITAL] * few + [Casing.LOWER] * 500
    signals = signals_of(case, repeated=[True] * few + [False] * 500)
    assert SignalWeights.estimate(gate, signals) == SignalWeights()
    undecided = np.full(1000, 0.4, dtype=np.float32)
    signals = signals_of([Casing.CAPITAL, Casing.LOWER] * 500)
    assert SignalWeights.estimate(undecided, signals) == SignalWeights()


def test_without_words_weights_are_zero_and_scores_empty():
    empty = SignalExtractor(ordinary=frozenset()).extract([])
    gate = np.zeros(0, dtype=np.float32)
    assert SignalWeights.estimate(gate, empty) == SignalWeights()
    assert SignalWeights(1.0, -1.0, 0.5).combine(gate, empty).shape == (0,)


# Signals together


@given(
    st.lists(
        st.tuples(st.floats(0.001, 0.999), st.sampled_from(list(Casing)), st.booleans()),
        min_size=1,
        max_size=8,
    ),
    st.tuples(*[st.floats(-4, 4)] * 3),
)
def test_log_odds_of_the_signals_add_up(words, values):
    gate = np.array([each[0] for each in words], dtype=np.float32)
    signals = signals_of([each[1] for each in words], [each[2] for each in words])
    weights = SignalWeights(*values)
    of_case = {
        Casing.UNINFORMATIVE: 0.0,
        Casing.CAPITAL: weights.capital,
        Casing.LOWER: weights.lower,
    }
    added = [of_case[case] + again * weights.repeated for _, case, again in words]
    combined = weights.combine(gate, signals)
    assert combined.dtype == np.float32
    np.testing.assert_allclose(combined, expit(logit(gate.astype(float)) + added), atol=1e-5)


def test_uninformative_signals_add_nothing():
    gate = np.array([0.0, 0.1, 0.5, 0.97, 1.0], dtype=np.float32)
    silent = signals_of([Casing.UNINFORMATIVE] * 5)
    np.testing.assert_allclose(SignalWeights(3.0, -2.0, 1.0).combine(gate, silent), gate, atol=2e-6)


def test_words_of_scripts_without_case_get_their_own_weight():
    sentence = ["马克龙", "在", "Paris", "3", "ኬንያ", "東京", "и", "，"]
    signals = SignalExtractor(caseless=True).extract([sentence])
    assert signals.caseless.tolist() == [True, True, False, False, True, True, False, False]
    gates = np.full(len(sentence), 0.6, dtype=np.float32)
    plain = SignalWeights().log_odds(gates, signals)
    shifted = SignalWeights(caseless=-1.5).log_odds(gates, signals)
    np.testing.assert_allclose(shifted - plain, np.where(signals.caseless, -1.5, 0), atol=1e-6)
    assert SignalExtractor().extract([sentence]).caseless is None


def test_what_cannot_be_an_entity_scores_zero():
    signals = signals_of([Casing.CAPITAL] * 2, possible=[False, True])
    scores = SignalWeights(3.0, -2.0, 1.0).combine(
        np.array([0.99, 0.99], dtype=np.float32), signals
    )
    assert scores[0] == 0
    assert scores[1] > 0.99


def test_gates_of_zero_and_one_stay_probabilities():
    gate = np.array([0.0, 1.0], dtype=np.float32)
    for case in Casing:
        scores = SignalWeights(9.0, -9.0, 9.0).combine(gate, signals_of([case] * 2, [True, True]))
        assert ((scores >= 0) & (scores <= 1)).all()


def test_with_the_casing_signal_off_scores_are_untouched_by_case(minilm):
    sentences = [
        ["Marie", "Curie", "moved", "to", "Paris", "with", "her", "iPhone", "."],
        ["In", "PARIS", ",", "Curie", "met", "Straße", "and", "ΟΔΟΣ", "on", "Monday"],
    ]
    selector = seeded_selector(0, minilm.width, form="thresholded")
    scores, gates = [], []
    for text in (sentences, lowered(sentences)):
        with torch.inference_mode():
            gates.append(selector(encode_words(minilm, text)).prob_open().numpy())
        signals = SignalExtractor(ordinary=frozenset(), not_names={"monday"}).extract(text)
        scores.append(SignalWeights(repeated=1.0).combine(gates[-1], signals))
        assert not np.array_equal(scores[-1], gates[-1])
    np.testing.assert_array_equal(*gates)
    np.testing.assert_array_equal(*scores)
