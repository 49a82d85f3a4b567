"""Texts of different lengths side by side in rows of few sizes, so that nothing is filled up.

Every product then has one of few shapes, and attention one of three: what a processor does best
with either is found once and kept.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from thresher.encoders.padding import Numbers
from thresher.encoders.protocol import TokenBatch

_SIZES = (64, 128, 256)  # of rows, in tokens
_TOGETHER = 512  # tokens: what a cache holds


def encoded_in_rows(
    encode: Callable[[Tensor, Tensor, Tensor], Tensor], batch: TokenBatch, *, width: int
) -> Tensor:
    """The vectors of all tokens of a batch, on a CPU: (windows, tokens, width); padding has any.

    encode: what each token is, its place in its window and its window, (rows, tokens) each, to
    vectors, (rows, tokens, width)
    """
    lengths = batch.mask.sum(1).numpy()
    ids = batch.ids.flatten()
    encoded = torch.empty(*batch.ids.shape, width)
    flat = encoded.view(-1, width)
    for size, rows in _groups(lengths):
        window = np.concatenate(rows)
        length = lengths[window]
        row = np.repeat(np.arange(len(rows)), [len(each) for each in rows])
        start = np.cumsum(length) - length
        within = start - start[np.searchsorted(row, row)]  # where a window begins in its row
        place = np.arange(length.sum()) - np.repeat(start, length)
        here = torch.from_numpy(np.repeat(row * size + within, length) + place)
        there = torch.from_numpy(np.repeat(window * batch.ids.shape[1], length) + place)
        filled = torch.zeros(3, len(rows) * size, dtype=torch.long)
        filled[0, here] = ids[there]
        filled[1, here] = torch.from_numpy(place)
        filled[2, here] = torch.from_numpy(np.repeat(np.arange(1, len(window) + 1), length))
        vectors = encode(*filled.view(3, len(rows), size))
        flat.index_copy_(0, there, vectors.view(-1, width).index_select(0, here))
    return encoded


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
