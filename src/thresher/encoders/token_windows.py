"""Divide tokenized sentences into padded windows, with numpy alone."""

from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class TokenWindows:
    """The arrays of a `TokenBatch`.

    ids, mask, word: (windows, tokens)   sentence: (windows,)   sentence_of_word: (words,)
    """

    ids: IntArray
    mask: IntArray
    word: IntArray
    sentence: IntArray
    sentence_of_word: IntArray


@dataclass(frozen=True, kw_only=True)
class WindowLayout:
    """How sentences become windows of tokens.

    start, end: special tokens before and after each window   pad: the token id of padding
    max_tokens: of a sentence in one window, special tokens not counted; longer sentences are split
        into windows that share `overlap` tokens
    """

    start: Sequence[int] = ()
    end: Sequence[int] = ()
    pad: int = 0
    max_tokens: int | None = None
    overlap: int = 0

    def windows(self, ids: IntArray, counts: IntArray, sentences: Sequence[Sized]) -> TokenWindows:
        """Return padded windows of sentences whose words are tokenized already.

        ids: (tokens,), of all words   counts: (words,), the number of tokens of each word
        sentences: only their lengths in words are used
        """
        start, end = self.start, self.end
        lengths = np.fromiter(map(len, sentences), dtype=np.int64, count=len(sentences))
        sentence_of_word = np.repeat(np.arange(len(sentences)), lengths)
        word = np.repeat(np.arange(len(counts)), counts)
        tokens = np.bincount(sentence_of_word[word], minlength=len(sentences))
        sentence, first, length = _windows(tokens, max_tokens=self.max_tokens, overlap=self.overlap)
        row = np.repeat(np.arange(len(length)), length)
        offset = np.arange(length.sum()) - (np.cumsum(length) - length)[row]
        source, column = first[row] + offset, len(start) + offset
        total = len(start) + length + len(end)
        shape = (len(length), int(total.max(initial=0)))
        padded_ids, padded_word = np.full(shape, self.pad), np.full(shape, -1)
        padded_ids[:, : len(start)] = start
        padded_ids[row, column] = ids[source]
        padded_word[row, column] = word[source]
        for number, token in enumerate(end):
            padded_ids[np.arange(len(length)), len(start) + length + number] = token
        mask = (np.arange(shape[1]) < total[:, None]).astype(np.int64)
        return TokenWindows(padded_ids, mask, padded_word, sentence, sentence_of_word)


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
