"""Indexed sentences equal the sentences they were made from, and their counts are correct."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.text import indexed_sentences
from thresher.text.indexed_sentences import IndexedSentences

WORDS = st.sampled_from(["a", "A", "b", "", "ß", "ss", "."])
SENTENCES = st.lists(st.lists(WORDS, max_size=5), max_size=12)


def running(sentences):
    return [word for words in sentences for word in words]


@given(SENTENCES, st.integers(1, 5))
def test_they_are_equal_to_the_sentences(sentences, together):
    indexed = IndexedSentences.from_sentences(iter(sentences))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexed_sentences, "_SENTENCES_PER_READ", together)
        assert list(indexed) == sentences
    assert len(indexed) == len(sentences)
    assert [indexed[i] for i in range(len(sentences))] == sentences
    assert indexed[1:9] == sentences[1:9]
    assert indexed[::-2] == sentences[::-2]
    assert indexed[5:2] == []
    assert indexed.lengths.tolist() == list(map(len, sentences))
    number_of_each = [number for number, words in enumerate(sentences) for _ in words]
    assert indexed.sentence_of_word().tolist() == number_of_each


def test_indexed_sentences_are_returned_unchanged():
    indexed = IndexedSentences.from_sentences([["a"]])
    assert IndexedSentences.from_sentences(indexed) is indexed


@given(SENTENCES)
def test_map_words_calls_the_function_once_per_distinct_word(sentences):
    calls = []

    def length(word):
        calls.append(word)
        return len(word)

    indexed = IndexedSentences.from_sentences(sentences)
    found = indexed.map_words(length, np.int8)
    assert found.dtype == np.int8
    assert found.tolist() == list(map(len, running(sentences)))
    assert sorted(calls) == sorted(set(running(sentences)))


@given(SENTENCES)
def test_replace_words(sentences):
    folded = IndexedSentences.from_sentences(sentences).replace_words(str.casefold)
    expected = [[word.casefold() for word in words] for words in sentences]
    assert list(folded) == expected
    assert sorted(folded.vocabulary) == sorted(set(running(expected)))


@given(SENTENCES, st.data())
def test_word_counts_equal_a_counter(sentences, data):
    indexed = IndexedSentences.from_sentences(sentences)
    words = running(sentences)
    flags = st.lists(st.booleans(), min_size=len(words), max_size=len(words))
    where = np.array(data.draw(flags), dtype=np.bool_)
    kept = [word for word, holds in zip(words, where, strict=True) if holds]
    for counts, expected in ((indexed.word_counts(), words), (indexed.word_counts(where), kept)):
        assert Counter(dict(zip(indexed.vocabulary, counts, strict=True))) == Counter(expected)


@given(SENTENCES, st.integers(1, 4), st.integers(1, 9))
def test_passage_counts_count_a_word_once_per_passage(sentences, size, together):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexed_sentences, "_SENTENCES_PER_COUNT", together)
        indexed = IndexedSentences.from_sentences(sentences)
        counts = indexed.passage_counts(size)
    passages = [set(running(sentences[i : i + size])) for i in range(0, len(sentences), size)]
    assert dict(zip(indexed.vocabulary, counts, strict=True)) == Counter(
        word for passage in passages for word in passage
    )


def test_starts_must_cover_the_words():
    for starts in ([0, 1], [1, 2]):
        with pytest.raises(
            ValueError, match="must begin and end with 0 and the number of words, 2"
        ):
            IndexedSentences(np.zeros(2, dtype=np.int32), np.array(starts), ["a"])
