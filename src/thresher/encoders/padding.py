"""Rows of tokens of different lengths as one batch, and how not to compute what fills them up."""

from collections.abc import Callable, Sequence, Sized

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thresher.encoders.device_transfer import to_device
from thresher.encoders.overlapping_windows import windows
from thresher.encoders.protocol import TokenBatch

_TOKENS_TOGETHER = {"cpu": 512, "cuda": 16_384}  # what a cache holds; what keeps a GPU busy

Numbers = NDArray[np.int64]


def padded_batch(
    ids: Sequence[list[int]],
    word: Sequence[list[int]],
    sentence: Sequence[int],
    lengths: Sequence[int],
    *,
    pad: int,
) -> TokenBatch:
    """Windows filled up to the longest with `pad`, which belongs to no word and is masked out.

    ids, word: of each window   sentence: (windows,)   lengths: (sentences,), in words
    """
    longest = max(map(len, ids), default=0)
    mask = [[1] * len(row) + [0] * (longest - len(row)) for row in ids]
    return TokenBatch(
        ids=_tensor([row + [pad] * (longest - len(row)) for row in ids]),
        mask=_tensor(mask),
        word=_tensor([row + [-1] * (longest - len(row)) for row in word]),
        sentence=_tensor(sentence),
        sentence_of_word=torch.repeat_interleave(_tensor(lengths)),
        sentences=len(lengths),
    )


def batch_of_words(
    ids: Numbers,
    counts: Numbers,
    sentences: Sequence[Sized],
    *,
    start: Sequence[int] = (),
    end: Sequence[int] = (),
    pad: int = 0,
    room: int | None = None,
    overlap: int = 0,
) -> TokenBatch:
    """Sentences of words that are tokens already, each window between `start` and `end`.

    ids: (tokens,), of all words in turn   counts: (words,), tokens of each word
    room: the most tokens of a sentence in one window; neighbouring windows share `overlap`
    """
    lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
    sentence_of_word = np.repeat(np.arange(len(sentences)), lengths)
    word = np.repeat(np.arange(len(counts)), counts)
    tokens = np.bincount(sentence_of_word[word], minlength=len(sentences))
    sentence, low, length = _windows(tokens, room=room, overlap=overlap)
    row = np.repeat(np.arange(len(length)), length)
    within = np.arange(length.sum()) - (np.cumsum(length) - length)[row]
    source, column = low[row] + within, len(start) + within
    filled = len(start) + length + len(end)
    shape = (len(length), int(filled.max(initial=0)))
    placed_ids, placed_word = np.full(shape, pad), np.full(shape, -1)
    placed_ids[:, : len(start)] = start
    placed_ids[row, column] = ids[source]
    placed_word[row, column] = word[source]
    for place, token in enumerate(end):
        placed_ids[np.arange(len(length)), len(start) + length + place] = token
    return TokenBatch(
        ids=torch.from_numpy(placed_ids),
        mask=torch.from_numpy((np.arange(shape[1]) < filled[:, None]).astype(np.int64)),
        word=torch.from_numpy(placed_word),
        sentence=torch.from_numpy(sentence),
        sentence_of_word=torch.from_numpy(sentence_of_word),
        sentences=len(sentences),
    )


def _windows(
    tokens: Numbers, *, room: int | None, overlap: int
) -> tuple[Numbers, Numbers, Numbers]:
    """Of each window its sentence, its first token among all, and its length: (windows,) each."""
    first = np.cumsum(tokens) - tokens
    if room is None or tokens.max(initial=0) <= room:
        return np.arange(len(tokens)), first, tokens
    bounds = [
        (number, first[number] + low, high - low)
        for number, length in enumerate(tokens.tolist())
        for low, high in windows(length, size=room, overlap=overlap)
    ]
    sentence, low, length = np.array(bounds, dtype=np.int64).T.copy()  # each in one piece
    return sentence, low, length


def encode_by_length(
    encode: Callable[..., Tensor],
    batch: TokenBatch,
    *beside: Tensor,
    max_tokens: int | None = None,
) -> Tensor:
    """Equal to `encode(batch.ids, batch.mask, *beside)` where the mask is 1; elsewhere anything.

    Windows of like length are encoded together and cut to the longest of them, so that little is
    computed for padding.

    encode: ids, mask and what is beside them, (windows, tokens), to (windows, tokens, width)
    """
    given = (batch.ids, batch.mask, *beside)
    lengths = batch.lengths()
    hidden: Tensor | None = None
    for rows in group_by_length(lengths, max_tokens or max_batch_tokens(batch.ids.device)):
        longest = int(lengths[rows].max())
        index = to_device(torch.from_numpy(rows), batch.ids.device)
        encoded = encode(*(each[index, :longest] for each in given))
        if hidden is None:
            hidden = encoded.new_empty(*batch.ids.shape, encoded.shape[-1])
        hidden[index, :longest] = encoded
    return encode(*given) if hidden is None else hidden


def max_batch_tokens(device: torch.device) -> int:
    """How many tokens, padding included, are best encoded at a time."""
    return _TOKENS_TOGETHER.get(device.type, _TOKENS_TOGETHER["cpu"])


def group_by_length(lengths: Numbers, most: int) -> list[Numbers]:
    """Rows by length, at most so many tokens together, padding included."""
    order = np.argsort(lengths, kind="stable")
    parts, low = [], 0
    for place in range(1, len(order) + 1):
        full = place < len(order) and (place + 1 - low) * lengths[order[place]] > most
        if full or place == len(order):
            parts.append(order[low:place])
            low = place
    return parts


def _tensor(values: Sequence[int] | Sequence[list[int]]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.long)
