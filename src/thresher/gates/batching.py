"""Divide sentences into batches: for encoding, and shuffled for training."""

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thresher.text.indexed_sentences import IndexedSentences

T = TypeVar("T")

_BATCHES_PER_POOL = 16  # of random sentences, sorted by length before they are divided


def sentence_starts(sentences: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """Return where each sentence starts among all words, and where the last one ends.

    returns: (sentences + 1,)
    """
    if isinstance(sentences, IndexedSentences):
        return sentences.starts
    return np.cumsum([0, *map(len, sentences)], dtype=np.int64)


def group_by_words(items: Iterable[T], words: Callable[[T], int], size: int) -> Iterator[list[T]]:
    """Yield the items in groups of about `size` words; `words` counts the words of an item."""
    group: list[T] = []
    count = 0
    for item in items:
        group.append(item)
        count += words(item)
        if count >= size:
            yield group
            group, count = [], 0
    if group:
        yield group


def batches_by_length(sentences: Sequence[Sized], *, words_per_batch: int) -> Iterator[list[int]]:
    """Yield the indices of sentences of similar length, shortest first.

    words_per_batch: the maximum, padding included; a longer sentence is a batch of its own
    """
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
    batch: list[int] = []
    for i in order:
        if batch and (len(batch) + 1) * len(sentences[i]) > words_per_batch:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def batches_in_order(
    sentences: Sequence[Sequence[str]], *, words_per_batch: int
) -> Iterator[list[int]]:
    """Yield the indices of consecutive sentences, with at most `words_per_batch` words.

    For `Encoder.encode`, which avoids padding by itself.
    """
    starts = sentence_starts(sentences)
    low = 0
    while low < len(sentences):
        high = int(np.searchsorted(starts, starts[low] + words_per_batch, side="right")) - 1
        high = max(high, low + 1)
        yield list(range(low, high))
        low = high


def shuffled_batches(
    indices: ArrayLike,
    lengths: NDArray[np.int64],
    *,
    sentences_per_batch: int,
    generator: np.random.Generator,
) -> Iterator[list[int]]:
    """Yield the indices of one epoch in random batches of sentences of similar length.

    lengths: (sentences,), of all sentences, also those that are not among the indices
    """
    size = sentences_per_batch
    shuffled = generator.permutation(np.asarray(indices))
    for low in range(0, len(shuffled), size * _BATCHES_PER_POOL):
        pool = shuffled[low : low + size * _BATCHES_PER_POOL]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches = [pool[i : i + size].tolist() for i in range(0, len(pool), size)]
        yield from (batches[i] for i in generator.permutation(len(batches)))
