"""Texts of different lengths side by side in rows of few sizes, so that nothing is filled up.

Every product then has one of few shapes, and attention one of three: what a processor does best
with either is found once and kept.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from thresher.encoders.padding import Numbers
from thresher.encoders.protocol import TokenBatch, word_vectors

# What each token is, its place in its window and its window, (rows, tokens) each, to vectors,
# (rows, tokens, width).
Encode = Callable[[Tensor, Tensor, Tensor], Tensor]

_SIZES = (64, 128, 256)  # of rows, in tokens
_TOGETHER = 768  # tokens: what a cache nearly holds


def encode_packed(encode: Encode, batch: TokenBatch, *, width: int) -> Tensor:
    """The vectors of all tokens of a batch, on a CPU: (windows, tokens, width); padding has any."""
    encoded = torch.empty(*batch.ids.shape, width)
    flat = encoded.view(-1, width)
    for vectors, here, there in _encoded_groups(encode, batch):
        own = vectors.index_select(0, torch.from_numpy(here))
        flat.index_copy_(0, torch.from_numpy(there), own)
    return encoded


def encode_words_packed(encode: Encode, batch: TokenBatch, *, width: int) -> Tensor:
    """`word_vectors` of what `encode_packed` gives, which never lies in memory as a whole.

    returns: (words, width)
    """
    if not (batch.sentence.diff() > 0).all():  # a word may have tokens in several windows
        return word_vectors(encode_packed(encode, batch, width=width), batch)
    word = batch.word.flatten().numpy()
    means = torch.zeros(batch.words, width)
    for vectors, here, there in _encoded_groups(encode, batch):
        own = word[there]
        inside = own >= 0
        token, own = torch.from_numpy(here[inside]), own[inside]
        first = np.flatnonzero(np.diff(own, prepend=-1))
        bags = functional.embedding_bag(token, vectors, torch.from_numpy(first), mode="mean")
        means.index_copy_(0, torch.from_numpy(own[first]), bags)
    return means


def _encoded_groups(encode: Encode, batch: TokenBatch) -> Iterator[tuple[Tensor, Numbers, Numbers]]:
    """For each group of rows its vectors, (rows · tokens, width), and where its tokens lie.

    Where they lie: (tokens,) each, among these vectors and in the flattened batch.
    """
    lengths, ids = batch.lengths(), batch.ids.flatten().numpy()
    for size, rows in _groups(lengths):
        window = np.concatenate(rows)
        length = lengths[window]
        row = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
        start = np.cumsum(length) - length
        within = start - start[np.searchsorted(row, row)]  # where a window begins in its row
        place = np.arange(length.sum()) - np.repeat(start, length)
        here = np.repeat(row * size + within, length) + place
        there = np.repeat(window * batch.ids.shape[1], length) + place
        filled = np.zeros((3, len(rows) * size), dtype=np.int64)
        text = np.repeat(np.arange(1, len(window) + 1), length)
        filled[:, here] = ids[there], place, text
        laid_out = torch.from_numpy(filled.reshape(3, len(rows), size))
        yield encode(*laid_out).flatten(0, 1), here, there


def _groups(lengths: Numbers) -> Iterator[tuple[int, list[list[int]]]]:
    """A size, and as many rows of that size as are encoded together: the windows in each."""
    rows = _rows(lengths)
    for size in _SIZES:
        own = [windows for row_size, windows in rows if row_size == size]
        step = _TOGETHER // size
        for low in range(0, len(own), step):
            yield size, own[low : low + step]


def _rows(lengths: Numbers) -> list[tuple[int, list[int]]]:
    """Windows in rows, the longest first, each in the row that it fills best: (size, windows)."""
    rows: list[tuple[int, list[int]]] = []
    room: list[tuple[int, int]] = []  # what is left in a row, and its number; in order
    for window in np.argsort(-lengths, kind="stable").tolist():
        length = int(lengths[window])
        best = bisect_left(room, (length, 0))
        if best < len(room):
            left, number = room.pop(best)
        else:
            left, number = next(size for size in _SIZES if size >= length), len(rows)
            rows.append((left, []))
        rows[number][1].append(window)
        insort(room, (left - length, number))
    return rows
