from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.entities.priors.casing import Casing, casing_of_sentence, is_address
from thresher.entities.priors.word_statistics import PASSAGE, WordStatistics, is_repeated_nearby

WORD = st.sampled_from(["Anna", "anna", "ANNA", "the", "The", "went", "Rome", "rome", ".", "12"])
SENTENCES = st.lists(st.lists(WORD, max_size=4), max_size=3 * PASSAGE)
ORDINARY = st.sets(st.sampled_from(["the", "went", "rome", "."]))


# Counts


@given(SENTENCES)
def test_counts_equal_those_of_a_loop_over_words(sentences):
    statistics = WordStatistics.from_sentences(sentences)
    words = [(word.casefold(), seen) for each in sentences for word, seen in _with_casing(each)]
    assert statistics.count == Counter(word for word, _ in words)
    assert statistics.cased == Counter(
        word for word, seen in words if seen is not Casing.UNINFORMATIVE
    )
    capitals = Counter(word for word, seen in words if seen is Casing.CAPITAL)
    assert +statistics.capitals == capitals


@given(st.lists(st.lists(st.sampled_from(["RT", "rt", "@Ann", "www.a.b", "x"]), max_size=4)))
def test_a_word_is_before_an_address_if_the_next_of_its_sentence_is_one(sentences):
    pairs = [pair for words in sentences for pair in pairwise(words)]
    expected = Counter(word.casefold() for word, after in pairs if is_address(after.casefold()))
    assert WordStatistics.from_sentences(sentences).before_address == expected


@given(SENTENCES)
def test_a_word_counts_once_in_each_passage(sentences):
    statistics = WordStatistics.from_sentences(sentences)
    passages = [
        {word.casefold() for words in sentences[i : i + PASSAGE] for word in words}
        for i in range(0, len(sentences), PASSAGE)
    ]
    assert statistics.passages == Counter(word for passage in passages for word in passage)
    assert statistics.total_passages == sum(map(bool, passages))


def test_sentences_may_come_from_an_iterator():
    sentences = [["he", "saw", "Rome"]] * 3
    assert WordStatistics.from_sentences(iter(sentences)) == WordStatistics.from_sentences(
        sentences
    )


def test_the_capital_rate_counts_occurrences_with_informative_case():
    sentences = [["he", "saw", "Rome", "again"]] * 3 + [["he", "saw", "rome", "again"]]
    sentences += [["Rome", "is", "old"]] * 5  # sentence-initial: says nothing
    statistics = WordStatistics.from_sentences(sentences)
    assert statistics.capital_rate("rome") == pytest.approx(3 / 4)
    assert statistics.capital_rate("again") == 0.0


@pytest.mark.parametrize(("times", "least", "known"), [(2, 3, False), (3, 3, True), (2, 2, True)])
def test_the_capital_rate_of_infrequent_words_is_unknown(times, least, known):
    statistics = WordStatistics.from_sentences([["he", "saw", "Rome", "again"]] * times)
    assert statistics.capital_rate("rome", min_count=least) == (1.0 if known else None)
    assert statistics.capital_rate("unseen", min_count=least) is None


# Burstiness


def text_of(passages):
    """Sentences of one word each; a passage is a list of words, filled up with 'x'."""
    return [[word] for words in passages for word in [*words, *["x"] * (PASSAGE - len(words))]]


def test_names_that_are_repeated_where_they_occur_are_not_ordinary():
    passages = [["anna"] * 4 if i in (5, 40, 70) else [] for i in range(100)]
    ordinary = WordStatistics.from_sentences(text_of(passages)).ordinary_words()
    assert "anna" not in ordinary
    assert "x" in ordinary


def test_a_widespread_word_is_ordinary_even_if_it_is_repeated():
    passages = [["anna"] * 4 if i % 3 == 0 else [] for i in range(100)]
    assert "anna" in WordStatistics.from_sentences(text_of(passages)).ordinary_words()


def test_a_word_that_is_not_repeated_is_ordinary():
    passages = [["anna"] if i in (5, 40, 70) else [] for i in range(100)]
    assert "anna" in WordStatistics.from_sentences(text_of(passages)).ordinary_words()


def test_a_very_rare_word_is_not_ordinary():
    passages = [["anna"] if i == 5 else [] for i in range(100)]
    assert "anna" not in WordStatistics.from_sentences(text_of(passages)).ordinary_words()


@given(SENTENCES, ORDINARY)
def test_repetitions_equal_those_of_comparing_all_pairs(sentences, ordinary):
    places = [(i, word.casefold()) for i, words in enumerate(sentences) for word in words]
    expected = [
        word not in ordinary
        and any(map(str.isalpha, word))
        and any(
            other == word and abs(j - i) <= PASSAGE // 2
            for b, (j, other) in enumerate(places)
            if b != a
        )
        for a, (i, word) in enumerate(places)
    ]
    assert is_repeated_nearby(sentences, ordinary).tolist() == expected


@pytest.mark.parametrize(("distance", "near"), [(0, True), (10, True), (11, False)])
def test_nearby_is_within_half_a_passage_before_or_after(distance, near):
    sentences = [[] for _ in range(distance + 1)]
    sentences[0].append("anna")
    sentences[-1].append("Anna")
    assert is_repeated_nearby(sentences, set()).tolist() == [near, near]


@given(SENTENCES, ORDINARY)
def test_repetition_ignores_case(sentences, ordinary):
    lowered = [[word.lower() for word in words] for words in sentences]
    np.testing.assert_array_equal(
        is_repeated_nearby(sentences, ordinary), is_repeated_nearby(lowered, ordinary)
    )


def test_common_words_are_ordinary_even_if_the_text_repeats_them():
    sentences = [["the", "hamster", "Sobol", "and", "its", "hamster", "Sobol"]] * 3
    without, given_common = (
        WordStatistics.from_sentences(sentences, common_words=common).ordinary_words()
        for common in (frozenset(), frozenset(["hamster", "7", "@anna"]))
    )
    assert given_common == without | {"hamster"}


def test_a_word_that_is_mostly_before_addresses_is_never_a_name():
    sentences = [["RT", "@anna", "see", "Rome"]] * 3 + [["So", "RT", "Rome", "@anna"]]
    never = WordStatistics.from_sentences(sentences).never_names()
    assert "rt" in never
    assert not never & {"rome", "see", "so", "@anna"}


@pytest.mark.parametrize(("every", "never"), [(4, {"i"}), (5, set())])
def test_a_widespread_capital_letter_is_never_a_name(every, never):
    sentences = [
        ["so", "I" if i % (PASSAGE * every) == 0 else "he", "saw", "a", "Boat", "and", "x"]
        for i in range(PASSAGE * 20)
    ]
    assert WordStatistics.from_sentences(sentences).never_names() == never


def test_statistics_of_no_sentences_are_empty():
    statistics = WordStatistics.from_sentences([])
    assert (statistics.total_passages, statistics.ordinary_words()) == (0, frozenset())
    assert statistics.never_names() == frozenset()
    assert is_repeated_nearby([], set()).tolist() == []
    assert is_repeated_nearby([[], ["anna"], []], set()).tolist() == [False]


def _with_casing(words):
    return zip(words, casing_of_sentence(words), strict=True)
