"""Gates of repeated words, shared between their occurrences."""

import numpy as np
import pytest

from thresher.entities.finding.shared_gates import estimate_shared_gates, unfamiliarity
from thresher.entities.finding.signal_weights import SignalWeights, gate_log_odds
from thresher.entities.finding.signals import SharedGates, SignalExtractor

SENTENCES = [["Kano", "da", "gari"], ["a", "kano", ",", "2015"], ["KANO", ",", "2015"]]
GATES = np.array([0.9, 0.1, 0.3, 0.2, 0.2, 0.0, 0.0, 0.6, 0.0, 0.0], dtype=np.float32)


def test_a_text_is_unfamiliar_if_half_of_its_words_are_unknown():
    known = {"kano", "da", "a", "gari"}  # all words with letters
    assert unfamiliarity(SENTENCES, frozenset()) == 1
    assert unfamiliarity(SENTENCES, known - {"gari"}) == pytest.approx(2 / 6)
    assert unfamiliarity(SENTENCES, known) == 0
    assert unfamiliarity([["2015", "."]], frozenset()) == 0


@pytest.mark.parametrize("strength", [0.25, 1.0])
def test_the_share_grows_with_the_occurrences_of_a_word(strength):
    shared = estimate_shared_gates(SENTENCES, GATES, strength)
    mean = np.log([0.9 / 0.1, 0.2 / 0.8, 0.6 / 0.4]).mean()
    expected = SharedGates(strength * (3 - 1) / (3 - 1 + 3), mean)
    assert shared == {"kano": pytest.approx(expected, abs=1e-4)}


def test_the_log_odds_of_a_word_are_between_its_own_and_the_mean():
    shared = {"kano": SharedGates(0.25, 2.0)}
    signals = SignalExtractor(shared_gates=shared).extract(SENTENCES)
    odds, own = SignalWeights().log_odds(GATES, signals), gate_log_odds(GATES)
    is_shared = np.array([word.casefold() == "kano" for words in SENTENCES for word in words])
    np.testing.assert_allclose(odds[is_shared], 0.75 * own[is_shared] + 0.5, rtol=1e-6)
    np.testing.assert_array_equal(odds[~is_shared], own[~is_shared])


def test_signals_of_some_words_keep_their_shares():
    signals = SignalExtractor(shared_gates={"kano": SharedGates(0.25, 2.0)}).extract(SENTENCES)
    index = np.array([7, 1])
    np.testing.assert_array_equal(signals.rows(index).shared, [[0.25, 2.0], [0.0, 0.0]])
