import errno
import os

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import InputError
from thresher.gates.word_vectors import UnitIndex, cache_vectors, encode_words

TEXT = [
    ["Marie", "Curie", "moved", "to", "Paris", "."],
    ["Thanks", "!"],
    [],
    ["She", "won", "two", "Nobel", "Prizes", ",", "in", "1903", "and", "1911", "."],
    ["Rain"],
]


def test_cached_vectors_equal_single_sentences_to_float16(minilm, tmp_path):
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


def test_a_full_disk_is_reported_before_anything_is_encoded(tiny, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(InputError, match="No space left on device"):
        cache_vectors(tiny, [["a", "b"]], tmp_path / "vectors.npy")
    assert tiny.read == []


def test_rows_are_where_the_words_of_sentences_are():
    units = UnitIndex.of_words([["a", "b"], [], ["c"]])
    assert units.rows([2, 0]).tolist() == [2, 0, 1]
    assert units.rows([1]).tolist() == []


@given(st.lists(st.integers(0, 4), min_size=1, max_size=8), st.data())
def test_rows_are_the_range_of_each_sentence_one_after_another(lengths, data):
    starts = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    chosen = data.draw(st.lists(st.integers(0, len(lengths) - 1), min_size=1))
    expected = [row for i in chosen for row in range(starts[i], starts[i + 1])]
    assert (
        UnitIndex.of_words([["w"] * length for length in lengths]).rows(chosen).tolist() == expected
    )
