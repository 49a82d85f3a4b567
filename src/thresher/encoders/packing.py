"""Pack windows of different lengths side by side into rows of few sizes, with little padding.

Every matrix product then has one of few shapes, and attention one of three, so that the CPU library
chooses its best kernel for each shape only once.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from thresher.encoders.protocol import TokenBatch, word_vectors
from thresher.encoders.token_windows import IntArray

# Token ids, positions in the window and numbers of the window, (rows, tokens) each, to hidden
# states, (rows, tokens, width).
PackedEncoder = Callable[[Tensor, Tensor, Tensor], Tensor]

_ROW_SIZES = (64, 128, 256)  # tokens
_MAX_TOKENS = 768  # encoded together: about what the CPU cache holds


def encode_packed(encode: PackedEncoder, batch: TokenBatch, *, width: int) -> Tensor:
    """Return the hidden states of a batch on the CPU: (windows, tokens, width).

    The hidden states of padding are undefined.
    """
    hidden = torch.empty(*batch.ids.shape, width)
    flat = hidden.view(-1, width)
    for vectors, packed, original in _encoded_groups(encode, batch):
        in_group = vectors.index_select(0, torch.from_numpy(packed))
        flat.index_copy_(0, torch.from_numpy(original), in_group)
    return hidden


def encode_words_packed(encode: PackedEncoder, batch: TokenBatch, *, width: int) -> Tensor:
    """Equal to `word_vectors(encode_packed(…), batch)`, with less memory: (words, width)."""
    if not (batch.sentence.diff() > 0).all():  # a word may have tokens in several windows
        return word_vectors(encode_packed(encode, batch, width=width), batch)
    word = batch.word.flatten().numpy()
    means = torch.zeros(batch.words, width)
    for vectors, packed, original in _encoded_groups(encode, batch):
        word_of_token = word[original]
        inside = word_of_token >= 0
        token, word_of_token = torch.from_numpy(packed[inside]), word_of_token[inside]
        first = np.flatnonzero(np.diff(word_of_token, prepend=-1))
        bags = functional.embedding_bag(token, vectors, torch.from_numpy(first), mode="mean")
        means.index_copy_(0, torch.from_numpy(word_of_token[first]), bags)
    return means


def _encoded_groups(
    encode: PackedEncoder, batch: TokenBatch
) -> Iterator[tuple[Tensor, IntArray, IntArray]]:
    """Yield the hidden states of each group of rows, and where their tokens are.

    hidden states: (rows · tokens, width)
    indices of the tokens: in these hidden states, and in the flattened batch, (tokens,) each
    """
    lengths, ids = batch.lengths(), batch.ids.flatten().numpy()
    for size, rows in _groups(lengths):
        window = np.concatenate(rows)
        length = lengths[window]
        row = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
        start = np.cumsum(length) - length
        start_in_row = start - start[np.searchsorted(row, row)]
        position = np.arange(length.sum()) - np.repeat(start, length)
        packed = np.repeat(row * size + start_in_row, length) + position
        original = np.repeat(window * batch.ids.shape[1], length) + position
        inputs = np.zeros((3, len(rows) * size), dtype=np.int64)
        text = np.repeat(np.arange(1, len(window) + 1), length)
        inputs[:, packed] = ids[original], position, text
        in_rows = torch.from_numpy(inputs.reshape(3, len(rows), size))
        yield encode(*in_rows).flatten(0, 1), packed, original


def _groups(lengths: IntArray) -> Iterator[tuple[int, list[list[int]]]]:
    """Yield groups of rows of one size that are encoded together: the size, the rows' windows."""
    rows = _pack(lengths)
    for size in _ROW_SIZES:
        same_size = [windows for row_size, windows in rows if row_size == size]
        step = _MAX_TOKENS // size
        for low in range(0, len(same_size), step):
            yield size, same_size[low : low + step]


def _pack(lengths: IntArray) -> list[tuple[int, list[int]]]:
    """Assign windows to rows, the longest first, each to the row with the least space that fits.

    returns: the size of each row, and its windows
    """
    rows: list[tuple[int, list[int]]] = []
    space: list[tuple[int, int]] = []  # free tokens in each row, and its number; sorted
    for window in np.argsort(-lengths, kind="stable").tolist():
        length = int(lengths[window])
        best = bisect_left(space, (length, 0))
        if best < len(space):
            free, number = space.pop(best)
        else:
            free, number = next(size for size in _ROW_SIZES if size >= length), len(rows)
            rows.append((free, []))
        rows[number][1].append(window)
        insort(space, (free - length, number))
    return rows
