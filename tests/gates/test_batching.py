"""Batches cover every sentence once, keep to their size and differ from epoch to epoch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.gates.batching import (
    batches_by_length,
    batches_in_order,
    sentence_starts,
    shuffled_batches,
)
from thresher.text.indexed_sentences import IndexedSentences

TEXT = [["Marie", "left", "."], ["Thanks", "!"], [], ["She", "won", "in", "1903", "."], ["Rain"]]
LENGTHS = st.lists(st.integers(0, 30), max_size=40)


@given(LENGTHS, st.integers(1, 100))
def test_batches_cover_each_sentence_once_and_keep_to_their_size(lengths, limit):
    sentences = [["w"] * length for length in lengths]
    batches = list(batches_by_length(sentences, words_per_batch=limit))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        padded = len(batch) * max(lengths[i] for i in batch)
        assert padded <= limit or len(batch) == 1


@given(LENGTHS, st.integers(1, 100))
def test_batches_hold_sentences_of_similar_length(lengths, limit):
    batches = batches_by_length([["w"] * length for length in lengths], words_per_batch=limit)
    assert [lengths[i] for batch in batches for i in batch] == sorted(lengths)


@given(LENGTHS, st.integers(1, 100))
def test_batches_in_order_are_as_large_as_allowed(lengths, limit):
    batches = list(batches_in_order([["w"] * n for n in lengths], words_per_batch=limit))
    assert [i for batch in batches for i in batch] == list(range(len(lengths)))
    sizes = [sum(lengths[i] for i in batch) for batch in batches]
    assert all(size <= limit or len(batch) == 1 for size, batch in zip(sizes, batches, strict=True))
    following = zip(sizes, batches[1:], strict=False)
    assert all(size + lengths[batch[0]] > limit for size, batch in following)


@pytest.mark.parametrize(("lengths", "starts"), [([], [0]), ([2, 0, 3], [0, 2, 2, 5])])
def test_starts_are_where_sentences_begin_and_the_last_one_ends(lengths, starts):
    assert sentence_starts([["w"] * n for n in lengths]).tolist() == starts


def test_indexed_sentences_know_where_they_start():
    indexed = IndexedSentences.from_sentences(TEXT)
    assert sentence_starts(indexed).tolist() == sentence_starts(TEXT).tolist()
    for limit in (1, 12, 100):
        of_indexed, of_lists = (
            list(batches_in_order(each, words_per_batch=limit)) for each in (indexed, TEXT)
        )
        assert of_indexed == of_lists


@given(LENGTHS, st.integers(1, 5), st.integers(0, 3))
def test_shuffled_batches_cover_the_indices_once(lengths, size, seed):
    indices = list(range(0, len(lengths), 2))
    batches = shuffled_batches(
        np.array(indices, dtype=np.int64),
        np.array(lengths, dtype=np.int64),
        sentences_per_batch=size,
        generator=np.random.default_rng(seed),
    )
    found = list(batches)
    assert sorted(i for batch in found for i in batch) == indices
    assert all(len(batch) <= size for batch in found)


def test_shuffled_batches_differ_from_epoch_to_epoch_and_have_similar_lengths():
    lengths = np.tile([1, 9], 40)
    generator = np.random.default_rng(0)
    first, second = (
        list(shuffled_batches(np.arange(80), lengths, sentences_per_batch=8, generator=generator))
        for _ in range(2)
    )
    assert first != second
    assert all(len(set(lengths[batch])) == 1 for batch in first)
