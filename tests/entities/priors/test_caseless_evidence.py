"""Evidence without capitals, compared with counts by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, rankdata

from thresher.entities.priors.affixes import Affixes
from thresher.entities.priors.caseless_evidence import (
    Burstiness,
    Contexts,
    EvidencePrior,
    SurprisalEvidence,
    normal_scores,
)
from thresher.entities.priors.word_statistics import PASSAGE

NAN = math.nan
PLAIN = Burstiness(Affixes(frozenset(), frozenset(), frozenset()))


class FixedEvidence:
    """Evidence with given scores."""

    def __init__(self, *scores):
        self._scores = np.array(scores, dtype=np.float64)

    def scores(self, sentences):
        return self._scores


def text(passages):
    """Sentences of one word each; a passage is a list of words, filled up with dots."""
    return [[word] for words in passages for word in [*words, *["."] * (PASSAGE - len(words))]]


def scores_of(burstiness, sentences):
    found = burstiness.scores(sentences)
    return dict(zip([w for words in sentences for w in words], found.tolist(), strict=True))


def test_burstiness_is_the_log_ratio_of_expected_to_actual_passages():
    sentences = text([["abebe", "abebe", "abebe", "day"], ["day"], ["day", "once"], [], []])
    found = scores_of(PLAIN, sentences)
    expected = 5 * (1 - math.exp(-3 / 5))
    assert found["abebe"] == pytest.approx(math.log(expected / 1))
    assert found["day"] == pytest.approx(math.log(expected / 3))
    assert math.isnan(found["once"])
    assert math.isnan(found["."])


def test_a_word_is_counted_with_all_forms_of_its_stem():
    stems = ["ኬንያ", "ጋና", "ቻድ", "ሶማሌ"]
    words = [*stems, *("የ" + each for each in stems), *("በ" + each for each in stems)]
    sentences = text([["ኬንያ", "የኬንያ", "በኬንያ"], words, [], []])
    found = scores_of(Burstiness.from_sentences(sentences), sentences)
    assert found["ኬንያ"] == found["የኬንያ"] == found["በኬንያ"]
    assert found["ኬንያ"] == pytest.approx(math.log(4 * (1 - math.exp(-6 / 4)) / 2))


def test_caseless_only_leaves_out_words_with_case():
    sentences = text([["ኬንያ", "ኬንያ", "Kenya", "Kenya"], []])
    found = scores_of(Burstiness.from_sentences(sentences, caseless_only=True), sentences)
    assert found["ኬንያ"] > 0
    assert math.isnan(found["Kenya"])
    assert scores_of(Burstiness.from_sentences(sentences), sentences)["Kenya"] > 0


def test_a_context_has_the_burstiness_of_the_other_words_in_it():
    sentences = [
        ["ato", "kebede", "said"],
        ["ato", "almaz", "said"],
        ["big", "house", "said"],
        ["kebede"],
        ["almaz"],
        ["house"],
    ]
    own = PLAIN.scores(sentences)
    mean = float(np.nanmean(own))
    by_word = dict(zip([w for words in sentences for w in words], own.tolist(), strict=True))
    found = Contexts(PLAIN).scores(sentences)
    after_ato = (by_word["almaz"] + 3 * mean) / (1 + 3)
    before_said = (by_word["almaz"] + by_word["house"] + 3 * mean) / (2 + 3)
    assert found[1] == pytest.approx((after_ato + before_said) / 2)


@given(st.lists(st.lists(st.sampled_from(["ato", "Ato", "house", "said", "."]), max_size=4)))
def test_context_scores_equal_those_of_a_loop_over_words(sentences):
    own = iter(PLAIN.scores(sentences).tolist())
    words = [
        (before.casefold(), word.casefold(), after.casefold(), next(own))
        for each in sentences
        for before, word, after in zip(["", *each], each, [*each[1:], ""], strict=False)
    ]
    bursty = [number for *_, number in words if not math.isnan(number)]
    mean = sum(bursty) / len(bursty) if bursty else 0.0

    def others(side, place, word):
        there = {each[1]: each[3] for each in words if each[side] == place}
        known = [n for stem, n in there.items() if stem != word and not math.isnan(n)]
        return (sum(known) + 3 * mean) / (len(known) + 3)

    expected = [
        (others(0, before, word) + others(2, after, word)) / 2 if word != "." else NAN
        for before, word, after, _ in words
    ]
    np.testing.assert_allclose(Contexts(PLAIN).scores(sentences), expected, atol=1e-12)


def test_surprisal_is_used_for_words_only():
    found = SurprisalEvidence(np.array([1.0, 2.0, 3.0], dtype=np.float32)).scores(
        [["a", "."], ["b"]]
    )
    np.testing.assert_array_equal(found, [1.0, NAN, 3.0])
    with pytest.raises(ValueError, match="one value per word, got 2 for 1 words"):
        SurprisalEvidence(np.zeros(2, dtype=np.float32)).scores([["a"]])


@given(st.lists(st.one_of(st.integers(-3, 3), st.just(NAN)), max_size=30))
def test_normal_scores_equal_those_of_scipy_with_mean_ranks(values):
    numbers = np.array(values, dtype=np.float64)
    known = ~np.isnan(numbers)
    expected = norm.ppf((rankdata(numbers[known]) - 0.5) / max(known.sum(), 1))
    found = normal_scores(numbers)
    np.testing.assert_allclose(found[known], expected, atol=1e-12)
    assert np.isnan(found[~known]).all()


def test_the_fraction_with_the_most_evidence_are_entities():
    prior = EvidencePrior([FixedEvidence(5, 1, 4, 2, 3, NAN, 0, -1, -2, -3, -4)], 0.2)
    np.testing.assert_array_equal(prior.probabilities([]), [1, 0, 1, 0, 0, NAN, 0, 0, 0, 0, 0])


def test_with_negatives_only_the_likeliest_words_get_no_probability():
    prior = EvidencePrior([FixedEvidence(5, 1, 4, 2)], 0.5, negatives_only=True)
    np.testing.assert_array_equal(prior.probabilities([]), [NAN, 0, NAN, 0])


def test_constant_evidence_gives_no_entities():
    np.testing.assert_array_equal(
        EvidencePrior([FixedEvidence(1, 1, 1)], 0.5).probabilities([]), [0, 0, 0]
    )


def test_normal_scores_of_several_kinds_of_evidence_are_averaged():
    one, other = FixedEvidence(1, 2, 30), FixedEvidence(NAN, 7, 6)
    combined = EvidencePrior([one, other], 0.3).combined([])
    first, second = normal_scores(one.scores([])), normal_scores(other.scores([]))
    expected = [first[0], (first[1] + second[1]) / 2, (first[2] + second[2]) / 2]
    np.testing.assert_allclose(combined, expected)


@pytest.mark.parametrize("sentences", [[], [[]], [["."]]])
def test_without_words_there_are_no_probabilities(sentences):
    found = EvidencePrior(
        [Burstiness.from_sentences(sentences), Contexts(PLAIN)], 0.2
    ).probabilities(sentences)
    assert np.isnan(found).all()
    assert len(found) == sum(map(len, sentences))
