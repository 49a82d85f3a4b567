"""Windows packed side by side into rows."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from thresher.encoders.packing import _groups, encode_packed, encode_words_packed
from thresher.encoders.padding import batch_of_words
from thresher.encoders.protocol import word_vectors
from thresher.encoders.token_windows import WindowLayout

LENGTHS = st.lists(st.integers(1, 256), max_size=40)


def batch_of(lengths):
    """Sentences of words that are one token each, all different."""
    words = sum(lengths)
    sentences = [["w"] * length for length in lengths]
    return batch_of_words(
        np.arange(words), np.ones(words, dtype=np.int64), sentences, WindowLayout()
    )


def seen(ids, place, text):
    """For each token what it is, its place, and the sum of all tokens of its text (below 2²⁴)."""
    same = text[:, :, None] == text[:, None, :]
    return torch.stack([ids, place, (same * ids[:, None, :]).sum(-1)], -1).float()


@given(LENGTHS)
def test_every_token_has_its_position_and_its_own_text(lengths):
    batch = batch_of(lengths)
    got = encode_packed(seen, batch, width=3)
    assert got.shape == (*batch.ids.shape, 3)
    for row, length in enumerate(lengths):
        ids = batch.ids[row, :length]
        assert torch.equal(got[row, :length, 0], ids.float())
        assert got[row, :length, 1].tolist() == list(range(length))
        assert (got[row, :length, 2] == ids.sum()).all()


@given(st.lists(st.lists(st.integers(0, 3), max_size=20), max_size=30), st.booleans())
def test_words_are_the_means_of_their_tokens(counts, one_window):
    """counts: how many tokens each word of each sentence has"""
    tokens = np.array([count for words in counts for count in words], dtype=np.int64)
    ids = np.arange(tokens.sum()) * 7 % 50
    layout = WindowLayout(start=[51], end=[52], max_tokens=None if one_window else 8, overlap=2)
    batch = batch_of_words(ids, tokens, counts, layout)
    expected = word_vectors(encode_packed(seen, batch, width=3), batch)
    torch.testing.assert_close(encode_words_packed(seen, batch, width=3), expected)


@given(LENGTHS)
def test_few_shapes_are_encoded(lengths):
    shapes = set()

    def look(ids, place, text):
        shapes.add(tuple(ids.shape))
        return torch.zeros(*ids.shape, 1)

    encode_packed(look, batch_of(lengths), width=1)
    assert all(tokens in (64, 128, 256) and rows * tokens <= 768 for rows, tokens in shapes)


def test_rows_are_nearly_full():
    lengths = np.random.default_rng(0).integers(4, 60, 300)
    room = sum(size * len(rows) for size, rows in _groups(lengths))
    assert 0.95 * room < lengths.sum() <= room


@pytest.mark.parametrize("length", [1, 64, 65, 128, 129, 256])
def test_a_text_is_packed_into_the_smallest_row_that_fits(length):
    ((size, rows),) = _groups(np.array([length]))
    assert rows == [[0]]
    assert size == min(each for each in (64, 128, 256) if each >= length)


def test_an_empty_batch_stays_empty():
    assert encode_packed(seen, batch_of([]), width=3).shape == (0, 0, 3)
