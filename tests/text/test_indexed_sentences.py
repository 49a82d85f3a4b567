"""Numbered sentences are the sentences they were made of, and what is counted is counted right."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.text import indexed_sentences as numbered_sentences
from thresher.text.indexed_sentences import NumberedSentences

WORDS = st.sampled_from(["a", "A", "b", "", "ß", "ss", "."])
SENTENCES = st.lists(st.lists(WORDS, max_size=5), max_size=12)


def running(sentences):
    return [word for words in sentences for word in words]


@given(SENTENCES, st.integers(1, 5))
def test_they_are_the_same_sequence(sentences, together):
    numbered = NumberedSentences.of(iter(sentences))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbered_sentences, "_READ_TOGETHER", together)
        assert list(numbered) == sentences
    assert len(numbered) == len(sentences)
    assert [numbered[i] for i in range(len(sentences))] == sentences
    assert numbered[1:9] == sentences[1:9]
    assert numbered[::-2] == sentences[::-2]
    assert numbered[5:2] == []
    assert numbered.lengths.tolist() == list(map(len, sentences))
    number_of_each = [number for number, words in enumerate(sentences) for _ in words]
    assert numbered.sentence_of_word().tolist() == number_of_each


def test_those_that_are_numbered_already_are_kept():
    numbered = NumberedSentences.of([["a"]])
    assert NumberedSentences.of(numbered) is numbered


@given(SENTENCES)
def test_a_word_is_asked_once_and_answers_wherever_it_comes(sentences):
    asked = []

    def length(word):
        asked.append(word)
        return len(word)

    numbered = NumberedSentences.of(sentences)
    found = numbered.each(length, np.int8)
    assert found.dtype == np.int8
    assert found.tolist() == list(map(len, running(sentences)))
    assert sorted(asked) == sorted(set(running(sentences)))


@given(SENTENCES)
def test_another_word_may_stand_for_each(sentences):
    folded = NumberedSentences.of(sentences).mapped(str.casefold)
    expected = [[word.casefold() for word in words] for words in sentences]
    assert list(folded) == expected
    assert sorted(folded.table) == sorted(set(running(expected)))


@given(SENTENCES, st.data())
def test_counts_are_those_of_counting_one_by_one(sentences, data):
    numbered = NumberedSentences.of(sentences)
    words = running(sentences)
    flags = st.lists(st.booleans(), min_size=len(words), max_size=len(words))
    where = np.array(data.draw(flags), dtype=np.bool_)
    kept = [word for word, holds in zip(words, where, strict=True) if holds]
    for counts, expected in ((numbered.counts(), words), (numbered.counts(where), kept)):
        assert Counter(dict(zip(numbered.table, counts, strict=True))) == Counter(expected)


@given(SENTENCES, st.integers(1, 4), st.integers(1, 9))
def test_a_word_counts_once_for_each_passage(sentences, size, together):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbered_sentences, "_COUNTED_TOGETHER", together)
        numbered = NumberedSentences.of(sentences)
        counts = numbered.counts_in_passages(size)
    passages = [set(running(sentences[i : i + size])) for i in range(0, len(sentences), size)]
    assert dict(zip(numbered.table, counts, strict=True)) == Counter(
        word for passage in passages for word in passage
    )


def test_starts_must_cover_the_words():
    for starts in ([0, 1], [1, 2]):
        with pytest.raises(ValueError, match="sentences of 2 words from"):
            NumberedSentences(np.zeros(2, dtype=np.int32), np.array(starts), ["a"])
