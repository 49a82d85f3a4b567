import errno
import os

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import InputError
from thresher.gates.word_vectors import (
    batches_by_length,
    batches_in_order,
    cache_vectors,
    encode_words,
    sentence_starts,
)
from thresher.text.indexed_sentences import IndexedSentences

TEXT = [
    ["Marie", "Curie", "moved", "to", "Paris", "."],
    ["Thanks", "!"],
    [],
    ["She", "won", "two", "Nobel", "Prizes", ",", "in", "1903", "and", "1911", "."],
    ["Rain"],
]
LENGTHS = st.lists(st.integers(0, 30), max_size=40)


@given(LENGTHS, st.integers(1, 100))
def test_batches_cover_each_sentence_once_and_keep_to_their_size(lengths, most):
    sentences = [["w"] * length for length in lengths]
    batches = list(batches_by_length(sentences, words_per_batch=most))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        padded = len(batch) * max(lengths[i] for i in batch)
        assert padded <= most or len(batch) == 1


@given(LENGTHS, st.integers(1, 100))
def test_batches_hold_sentences_of_like_length(lengths, most):
    batches = batches_by_length([["w"] * length for length in lengths], words_per_batch=most)
    assert [lengths[i] for batch in batches for i in batch] == sorted(lengths)


@given(LENGTHS, st.integers(1, 100))
def test_batches_in_order_are_as_large_as_allowed(lengths, most):
    batches = list(batches_in_order([["w"] * n for n in lengths], words_per_batch=most))
    assert [i for batch in batches for i in batch] == list(range(len(lengths)))
    sizes = [sum(lengths[i] for i in batch) for batch in batches]
    assert all(size <= most or len(batch) == 1 for size, batch in zip(sizes, batches, strict=True))
    following = zip(sizes, batches[1:], strict=False)
    assert all(size + lengths[batch[0]] > most for size, batch in following)


def test_cached_vectors_are_those_of_encoding_each_sentence_alone_to_float16(minilm, tmp_path):
    cached = cache_vectors(minilm, TEXT, tmp_path / "vectors.npy")
    direct = torch.cat([encode_words(minilm, [words]) for words in TEXT])
    assert cached.dtype == np.float16
    assert cached.shape == (20, minilm.width)
    largest = float(direct.abs().max())
    np.testing.assert_allclose(cached, direct.numpy(), atol=largest * 2**-11 + 1e-4, rtol=2**-10)


def test_the_cache_is_the_file_and_is_read_back_from_it(tiny, tmp_path):
    cached = cache_vectors(tiny, TEXT, tmp_path / "vectors.npy")
    read = np.load(tmp_path / "vectors.npy", mmap_mode="r")
    assert isinstance(cached, np.memmap)
    np.testing.assert_array_equal(read, cached)


def test_sentences_stay_in_order_through_several_batches(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("thresher.gates.word_vectors._WORDS_PER_BATCH", {"cpu": 12})
    cached = cache_vectors(tiny, TEXT, tmp_path / "vectors.npy")
    assert len(tiny.read) > 1
    direct = torch.cat([encode_words(tiny, [words]) for words in TEXT])
    np.testing.assert_allclose(cached, direct, atol=1e-3)


def test_progress_counts_every_sentence(tiny, tmp_path):
    counted = []
    cache_vectors(tiny, TEXT, tmp_path / "vectors.npy", progress=counted.append)
    assert sum(counted) == len(TEXT)


def test_no_sentences_make_an_empty_cache(tiny, tmp_path):
    assert cache_vectors(tiny, [], tmp_path / "vectors.npy").shape == (0, tiny.width)


def test_encoding_words_keeps_no_graph(tiny):
    assert not encode_words(tiny, TEXT).requires_grad


@pytest.mark.parametrize(("lengths", "starts"), [([], [0]), ([2, 0, 3], [0, 2, 2, 5])])
def test_starts_are_where_sentences_begin_and_the_last_one_ends(lengths, starts):
    assert sentence_starts([["w"] * n for n in lengths]).tolist() == starts


def test_numbered_sentences_know_where_they_start():
    numbered = IndexedSentences.from_sentences(TEXT)
    assert sentence_starts(numbered).tolist() == sentence_starts(TEXT).tolist()
    for most in (1, 12, 100):
        of_numbered, of_lists = (
            list(batches_in_order(each, words_per_batch=most)) for each in (numbered, TEXT)
        )
        assert of_numbered == of_lists


def test_a_full_disk_is_told_before_anything_is_encoded(tiny, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(InputError, match="No space left on device"):
        cache_vectors(tiny, [["a", "b"]], tmp_path / "vectors.npy")
    assert tiny.read == []
