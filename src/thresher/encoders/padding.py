"""Build padded batches of tokens, and encode them with little computation for padding."""

from collections.abc import Callable, Iterator, Sequence, Sized

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thresher.encoders.device_transfer import to_device
from thresher.encoders.protocol import TokenBatch


def overlapping_windows(length: int, *, size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of windows of at most `size` that cover range(length).

    Neighbouring windows share `overlap` positions. A length that fits gives one window, and a
    length of 0 gives one empty window.
    """
    if not 0 <= overlap < size:
        raise ValueError(f"overlap must be at least 0 and less than size {size}, got {overlap}")
    start = 0
    while start + size < length:
        yield start, start + size
        start += size - overlap
    yield start, length


_MAX_BATCH_TOKENS = {"cpu": 512, "cuda": 16_384}  # what fits in a CPU cache; what fills a GPU

IntArray = NDArray[np.int64]


def padded_batch(
    ids: Sequence[list[int]],
    word: Sequence[list[int]],
    sentence: Sequence[int],
    lengths: Sequence[int],
    *,
    pad: int,
) -> TokenBatch:
    """Return a batch of windows, padded to the longest; padding is masked and has word −1.

    ids, word: of each window, the token ids and the index of each token's word
    sentence: (windows,), the index of each window's sentence
    lengths: (sentences,), in words
    pad: the token id of padding
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
    ids: IntArray,
    counts: IntArray,
    sentences: Sequence[Sized],
    *,
    start: Sequence[int] = (),
    end: Sequence[int] = (),
    pad: int = 0,
    max_tokens: int | None = None,
    overlap: int = 0,
) -> TokenBatch:
    """Return a padded batch of sentences whose words are tokenized already.

    ids: (tokens,), of all words   counts: (words,), the number of tokens of each word
    sentences: only their lengths in words are used
    start, end: special tokens before and after each window
    max_tokens: of a sentence in one window, special tokens not counted; longer sentences are split
        into windows that share `overlap` tokens
    """
    lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
    sentence_of_word = np.repeat(np.arange(len(sentences)), lengths)
    word = np.repeat(np.arange(len(counts)), counts)
    tokens = np.bincount(sentence_of_word[word], minlength=len(sentences))
    sentence, first, length = _windows(tokens, max_tokens=max_tokens, overlap=overlap)
    row = np.repeat(np.arange(len(length)), length)
    offset = np.arange(length.sum()) - (np.cumsum(length) - length)[row]
    source, column = first[row] + offset, len(start) + offset
    total = len(start) + length + len(end)
    shape = (len(length), int(total.max(initial=0)))
    padded_ids, padded_word = np.full(shape, pad), np.full(shape, -1)
    padded_ids[:, : len(start)] = start
    padded_ids[row, column] = ids[source]
    padded_word[row, column] = word[source]
    for number, token in enumerate(end):
        padded_ids[np.arange(len(length)), len(start) + length + number] = token
    return TokenBatch(
        ids=torch.from_numpy(padded_ids),
        mask=torch.from_numpy((np.arange(shape[1]) < total[:, None]).astype(np.int64)),
        word=torch.from_numpy(padded_word),
        sentence=torch.from_numpy(sentence),
        sentence_of_word=torch.from_numpy(sentence_of_word),
        sentences=len(sentences),
    )


def _windows(
    tokens: IntArray, *, max_tokens: int | None, overlap: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return for each window its sentence, its first token and its length: (windows,) each.

    tokens: (sentences,), the number of tokens of each   first token: counted over all sentences
    """
    first = np.cumsum(tokens) - tokens
    if max_tokens is None or tokens.max(initial=0) <= max_tokens:
        return np.arange(len(tokens)), first, tokens
    bounds = [
        (number, first[number] + low, high - low)
        for number, length in enumerate(tokens.tolist())
        for low, high in overlapping_windows(length, size=max_tokens, overlap=overlap)
    ]
    sentence, first, length = np.array(bounds, dtype=np.int64).T.copy()  # copied to be contiguous
    return sentence, first, length


def encode_by_length(
    encode: Callable[..., Tensor], batch: TokenBatch, *inputs: Tensor, max_tokens: int | None = None
) -> Tensor:
    """Equal to `encode(batch.ids, batch.mask, *inputs)` where the mask is 1; undefined elsewhere.

    Windows of similar length are encoded together and truncated to the longest of them, so that
    little is computed for padding.

    encode: from ids, mask and inputs, (windows, tokens) each, to (windows, tokens, width)
    inputs: further inputs of `encode`, (windows, tokens) each
    max_tokens: encoded together, padding included; the default depends on the device
    """
    arguments = (batch.ids, batch.mask, *inputs)
    lengths = batch.lengths()
    hidden: Tensor | None = None
    for rows in group_by_length(lengths, max_tokens or max_batch_tokens(batch.ids.device)):
        longest = int(lengths[rows].max())
        index = to_device(torch.from_numpy(rows), batch.ids.device)
        encoded = encode(*(each[index, :longest] for each in arguments))
        if hidden is None:
            hidden = encoded.new_empty(*batch.ids.shape, encoded.shape[-1])
        hidden[index, :longest] = encoded
    return encode(*arguments) if hidden is None else hidden


def max_batch_tokens(device: torch.device) -> int:
    """Return how many tokens, padding included, are best encoded together on a device."""
    return _MAX_BATCH_TOKENS.get(device.type, _MAX_BATCH_TOKENS["cpu"])


def group_by_length(lengths: IntArray, max_tokens: int) -> list[IntArray]:
    """Group the indices of rows of similar length, at most `max_tokens` per group with padding."""
    order = np.argsort(lengths, kind="stable")
    groups, low = [], 0
    for high in range(1, len(order) + 1):
        full = high < len(order) and (high + 1 - low) * lengths[order[high]] > max_tokens
        if full or high == len(order):
            groups.append(order[low:high])
            low = high
    return groups


def _tensor(values: Sequence[int] | Sequence[list[int]]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.long)
