"""Gates of repeated words, shared between their occurrences."""

import numpy as np
import pytest

from thresher.entities.finding.shared_gates import (
    estimate_shared_gates,
    unfamiliarity,
    with_cases,
    with_continuations,
)
from thresher.entities.finding.signal_weights import SignalWeights, gate_log_odds
from thresher.entities.finding.signals import SharedGates, SignalExtractor
from thresher.entities.finding.span_model import SpanModel
from thresher.entities.finding.word_decoding import WordDecoder
from thresher.entities.priors.casing import Casing

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
    np.testing.assert_array_equal(signals.rows(index).shared, [[0.25, 2.0, *[0.0] * 4], [0.0] * 6])


def country_and_person(*, adapted):
    """The bounds of names in "Shugaban Amurka Donald Trump", given other mentions of them."""
    sentences = [["a", "Amurka", "da", "can"], ["da", "Donald", "Trump", "ya", "ce"]] * 20
    sentences.append(["shugaban", "Amurka", "Donald", "Trump", "ya", "ce"])
    names = {"Amurka", "Donald", "Trump"}
    gates = np.array([0.95 if w in names else 0.01 for words in sentences for w in words])
    shared = estimate_shared_gates(sentences, gates, 1.0)
    if adapted:
        shared = with_continuations(shared, sentences, gates, 1.0)
    extractor = SignalExtractor(strict_headlines=True, shared_gates=shared)
    decoder = WordDecoder(SignalWeights(), frozenset(), SpanModel())
    *_, last = decoder.candidates(sentences, gates, extractor.extract(sentences))
    return [(each.start, each.end) for each in last]


def test_a_country_and_a_person_are_one_name_unless_other_mentions_separate_them():
    assert country_and_person(adapted=False) == [(1, 4)]
    assert country_and_person(adapted=True) == [(1, 2), (2, 4)]


@pytest.mark.parametrize(("strength", "expected"), [(0.3, 0.0), (1.0, 1.0)])
def test_a_capital_says_nothing_about_words_in_both_cases_of_an_unfamiliar_language(
    strength, expected
):
    sentences = [["na", "Rais", "Uhuru", "na", "rais"]] * 3
    shared = {word: SharedGates(0.0, 0.0) for word in ("rais", "uhuru")}
    casing = SignalExtractor().extract(sentences).casing
    shared = with_cases(shared, sentences, casing, strength)
    assert (shared["rais"].both_cases, shared["uhuru"].both_cases) == (expected, 0.0)
    casing = SignalExtractor(shared_gates=shared).extract(sentences[:1]).casing
    of_rais = Casing.UNINFORMATIVE if expected else Casing.CAPITAL
    assert casing[1:3].tolist() == [of_rais, Casing.CAPITAL]


def test_where_case_says_nothing_the_case_of_other_mentions_counts():
    cased = [["Na", "Kano", "ta", "ga", "shi", "da", "Musa", "."]] * 3
    lowered = [[word.lower() for word in cased[0]]]
    casing = SignalExtractor().extract(cased).casing
    shared = with_cases({"kano": SharedGates(0.0, 0.0)}, cased, casing, 1.0)
    signals = SignalExtractor(shared_gates=shared).extract(lowered)
    assert (signals.casing == Casing.UNINFORMATIVE).all()
    # Three of three mentions, and one without case: ¾ of each weight. "Na" begins its sentences.
    odds = SignalWeights(2.0, -1.0).log_odds(np.full(8, 0.5, dtype=np.float32), signals)
    assert odds.tolist() == [0, 1.5, -0.75, -0.75, -0.75, -0.75, 1.5, 0]
