"""Padded batches of tokens, and encoding them by length."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from thresher.encoders.padding import (
    batch_of_words,
    encode_by_length,
    padded_batch,
)
from thresher.encoders.protocol import TokenBatch
from thresher.encoders.token_windows import WindowLayout, overlapping_windows

START, END, PAD = [101], [102], 7
SENTENCES = st.lists(st.lists(st.lists(st.integers(200, 999), max_size=4), max_size=9), max_size=6)


def by_lists(sentences: list[list[list[int]]], *, max_tokens: int, overlap: int) -> TokenBatch:
    """Return what `batch_of_words` should return, built token by token."""
    ids, word, sentence, offset = [], [], [], 0
    for number, words in enumerate(sentences):
        tokens = [token for each in words for token in each]
        owner = [offset + i for i, each in enumerate(words) for _ in each]
        for low, high in overlapping_windows(len(tokens), size=max_tokens, overlap=overlap):
            ids.append([*START, *tokens[low:high], *END])
            word.append([-1, *owner[low:high], -1])
            sentence.append(number)
        offset += len(words)
    return padded_batch(ids, word, sentence, list(map(len, sentences)), pad=PAD)


def by_words(sentences: list[list[list[int]]], *, max_tokens: int, overlap: int) -> TokenBatch:
    words = [word for each in sentences for word in each]
    return batch_of_words(
        np.array([token for word in words for token in word], dtype=np.int64),
        np.array(list(map(len, words)), dtype=np.int64),
        sentences,
        WindowLayout(start=START, end=END, pad=PAD, max_tokens=max_tokens, overlap=overlap),
    )


@given(SENTENCES, st.integers(3, 20))
def test_batch_of_words_equals_a_padded_batch_of_their_tokens(
    sentences: list[list[list[int]]], max_tokens: int
) -> None:
    expected = by_lists(sentences, max_tokens=max_tokens, overlap=2)
    got = by_words(sentences, max_tokens=max_tokens, overlap=2)
    shape = expected.ids.shape if sentences else (0, 2)  # no row has a length of its own then
    for name in ("ids", "mask", "word"):
        assert torch.equal(getattr(got, name).reshape(shape), getattr(expected, name).view(shape))
    assert torch.equal(got.sentence, expected.sentence)
    assert torch.equal(got.sentence_of_word, expected.sentence_of_word)
    assert got.sentences == len(sentences)


class Running:
    """Each token's vector is the sum of the ids up to it; counts the tokens it computes."""

    def __init__(self) -> None:
        self.computed = 0

    def __call__(self, ids: Tensor, mask: Tensor) -> Tensor:
        self.computed += ids.numel()
        return (ids * mask).cumsum(1)[..., None].expand(-1, -1, 3).double()


@given(SENTENCES, st.integers(1, 30))
def test_encoding_by_length_gives_the_same_hidden_states(
    sentences: list[list[list[int]]], together: int
) -> None:
    batch = by_words(sentences, max_tokens=8, overlap=2)
    inside = batch.mask.bool()
    got = encode_by_length(Running(), batch, max_tokens=together)
    assert got.shape == (*batch.ids.shape, 3)
    assert torch.equal(got[inside], Running()(batch.ids, batch.mask)[inside])


@pytest.mark.parametrize(("together", "computed"), [(1, 6 + 3 + 3), (9, 6 + 6), (100, 18)])
def test_padding_is_computed_only_within_a_group(together: int, computed: int) -> None:
    batch = by_words([[[201]], [[202, 203], [204, 205]], [[206]]], max_tokens=8, overlap=2)
    encode = Running()
    encode_by_length(encode, batch, max_tokens=together)
    assert encode.computed == computed


def test_further_inputs_are_truncated_like_the_tokens() -> None:
    batch = by_words([[[201]], [[202, 203], [204, 205]], [[206]]], max_tokens=8, overlap=2)

    def encode(ids: Tensor, mask: Tensor, word: Tensor) -> Tensor:
        return torch.stack([ids, word], -1)

    got = encode_by_length(encode, batch, batch.word, max_tokens=1)
    inside = batch.mask.bool()
    assert torch.equal(got[inside], torch.stack([batch.ids, batch.word], -1)[inside])


@st.composite
def window_problem(draw):
    size = draw(st.integers(1, 20))
    return draw(st.integers(0, 100)), size, draw(st.integers(0, size - 1))


@given(window_problem())
def test_windows_cover_the_whole_length_in_order_and_none_is_too_long(problem):
    length, size, overlap = problem
    found = list(overlapping_windows(length, size=size, overlap=overlap))
    assert set().union(*(range(low, high) for low, high in found)) == set(range(length))
    assert found == sorted(set(found))
    assert all(high - low <= size for low, high in found)


@given(window_problem())
def test_neighbours_share_exactly_the_overlap_and_all_but_the_last_are_full(problem):
    length, size, overlap = problem
    found = list(overlapping_windows(length, size=size, overlap=overlap))
    for (low, high), (following, _) in itertools.pairwise(found):
        assert high - low == size
        assert high - following == overlap


@given(window_problem())
def test_no_window_lies_inside_another(problem):
    length, size, overlap = problem
    ends = [high for _, high in overlapping_windows(length, size=size, overlap=overlap)]
    assert ends == sorted(set(ends))


@pytest.mark.parametrize("length", [0, 1, 9, 10])
def test_a_length_that_fits_gives_one_window(length):
    assert list(overlapping_windows(length, size=10, overlap=3)) == [(0, length)]


@pytest.mark.parametrize(("size", "overlap"), [(4, 4), (4, 5), (4, -1), (0, 0)])
def test_an_overlap_as_large_as_the_window_is_rejected(size, overlap):
    with pytest.raises(ValueError, match=rf"less than size {size}, got {overlap}"):
        list(overlapping_windows(10, size=size, overlap=overlap))
