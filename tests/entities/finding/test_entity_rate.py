from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from thresher.entities.finding import entity_rate
from thresher.entities.finding.entity_rate import gates_at_text_rates, rate_shifts
from thresher.entities.finding.signal_weights import SignalWeights
from thresher.entities.finding.signals import WordSignals
from thresher.entities.priors.casing import Casing

RATE = 0.08


def logit(p):
    return np.log(p) - np.log1p(-p)


def no_signals(count, possible=None):
    return WordSignals(
        np.full(count, Casing.UNINFORMATIVE, dtype=np.int8),
        np.zeros(count, dtype=np.bool_),
        np.ones(count, dtype=np.bool_) if possible is None else possible,
    )


def two_classes(fraction, count, seed=0):
    """Log-odds at `RATE` of words of which a fraction is in entities: exact likelihood ratios."""
    rng = np.random.default_rng(seed)
    entity = rng.random(count) < fraction
    x = rng.normal(np.where(entity, 1.5, -1.5), 1.5)  # log-likelihood ratio 2 x μ / σ² = 4 x / 3
    return 4 * x / 3 + logit(RATE)


@pytest.mark.parametrize("fraction", [0.02, 0.08, 0.2, 0.45])
def test_the_fraction_of_entities_is_recovered_from_probabilities_at_another_rate(fraction):
    log_odds = two_classes(fraction, 40_000)
    shift = rate_shifts(log_odds, np.zeros(len(log_odds), dtype=np.int64), 1, RATE)[0]
    estimated = 1 / (1 + np.exp(-(shift + logit(RATE))))
    assert estimated == pytest.approx(fraction, rel=0.08)


def test_the_estimate_maximizes_the_posterior_of_the_fraction():
    log_odds = two_classes(0.3, 3_000, seed=1)
    ratio = np.exp(log_odds - logit(RATE))

    def minus_log_posterior(p):
        likelihood = np.log(p * ratio + 1 - p).sum()
        prior = entity_rate.PRIOR_WORDS * (RATE * np.log(p) + (1 - RATE) * np.log1p(-p))
        return -likelihood - prior

    best = minimize_scalar(minus_log_posterior, bounds=(1e-4, 1 - 1e-4), method="bounded").x
    shift = rate_shifts(log_odds, np.zeros(len(log_odds), dtype=np.int64), 1, RATE)[0]
    assert shift == pytest.approx(logit(best) - logit(RATE), abs=0.02)


@given(st.lists(st.integers(1, 400), min_size=1, max_size=5), st.integers(0, 1000))
def test_the_gates_of_a_text_do_not_depend_on_other_texts(lengths, seed):
    rng = np.random.default_rng(seed)
    gates = rng.beta(0.4, 1.0, sum(lengths)).astype(np.float32)
    weights = SignalWeights(rate=RATE)
    together = gates_at_text_rates(gates, weights, no_signals(len(gates)), lengths)
    starts = np.append(0, np.cumsum(lengths))
    for low, high in pairwise(starts.tolist()):
        alone = gates_at_text_rates(gates[low:high], weights, no_signals(high - low), [high - low])
        np.testing.assert_array_equal(together[low:high], alone)


def test_a_dense_text_raises_its_gates_and_a_short_or_usual_one_keeps_them():
    usual = np.full(1000, 0.01, dtype=np.float32)
    usual[:80] = 0.95
    dense = np.full(1000, 0.01, dtype=np.float32)
    dense[:400] = 0.95
    dense[400:] = 0.2
    weights = SignalWeights(rate=RATE)
    assert (gates_at_text_rates(usual, weights, no_signals(1000), [1000]) == usual).all()
    raised = gates_at_text_rates(dense, weights, no_signals(1000), [1000])
    assert (raised > dense).all()
    short = dense[396:416]  # four of twenty words are surely names
    assert (gates_at_text_rates(short, weights, no_signals(20), [20]) == short).all()


def test_impossible_words_do_not_count():
    gates = np.full(2000, 0.9, dtype=np.float32)
    possible = np.zeros(2000, dtype=np.bool_)
    weights = SignalWeights(rate=RATE)
    assert (gates_at_text_rates(gates, weights, no_signals(2000, possible), [2000]) == gates).all()


def test_a_model_without_a_rate_keeps_its_gates():
    gates = np.full(2000, 0.9, dtype=np.float32)
    assert gates_at_text_rates(gates, SignalWeights(), no_signals(2000), [2000]) is gates


def test_the_rate_is_the_mean_probability_of_possible_words_of_raw_text():
    rng = np.random.default_rng(0)
    gates = rng.beta(0.2, 1.0, 5000).astype(np.float32)
    signals = no_signals(5000, rng.random(5000) < 0.8)
    weights = SignalWeights.estimate(gates, signals, with_spans=True)
    expected = weights.combine(gates, signals)[signals.possible].mean()
    assert weights.rate == pytest.approx(float(expected))
    assert SignalWeights.estimate(gates, signals).rate == 0
