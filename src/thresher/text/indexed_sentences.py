"""Sentences of numbered words: what a word says of itself is asked once, however often it comes.

Each running word is four bytes, its number in a table of the words there are. Of a million
sentences few words are new, and the rest is arithmetic on arrays.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

_READ_TOGETHER = 1024  # sentences whose words are made at a time
_COUNTED_TOGETHER = 1 << 16  # sentences sorted at a time


class Numbering(dict[str, int]):
    """The number of each word, in the order in which they are first asked for."""

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        return number


class NumberedSentences(Sequence[Sequence[str]]):
    """A sequence of sentences like any other; reading one makes a list of its words.

    numbers: (words,)   starts: (sentences + 1,), where each begins and the last one ends
    table: the word of each number
    """

    def __init__(
        self, numbers: NDArray[np.int32], starts: NDArray[np.int64], table: Sequence[str]
    ) -> None:
        if starts[0] != 0 or starts[-1] != len(numbers):
            raise ValueError(f"sentences of {len(numbers)} words from {starts[0]} to {starts[-1]}")
        self.numbers = numbers
        self.starts = starts
        self.table = table

    @classmethod
    def of(cls, sentences: Iterable[Sequence[str]]) -> "NumberedSentences":
        """These sentences in memory; as they are, if they are numbered already."""
        if isinstance(sentences, NumberedSentences):
            return sentences
        known = Numbering()
        numbers, starts = array("i"), array("q", [0])
        for words in sentences:
            numbers.extend(map(known.__getitem__, words))
            starts.append(len(numbers))
        return NumberedSentences(
            np.array(numbers, dtype=np.int32), np.array(starts, dtype=np.int64), list(known)
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, index: int) -> list[str]: ...

    @overload
    def __getitem__(self, index: slice) -> list[list[str]]: ...

    def __getitem__(self, index: int | slice) -> list[str] | list[list[str]]:
        if isinstance(index, slice):
            low, high, step = index.indices(len(self))
            if step == 1:
                return self._neighbours(low, high)
            return [self[i] for i in range(low, high, step)]
        if not -len(self) <= index < len(self):
            raise IndexError(f"there are {len(self)} sentences; got {index}")
        low = int(index) % len(self)
        return self._neighbours(low, low + 1)[0]

    def __iter__(self) -> Iterator[list[str]]:
        for low in range(0, len(self), _READ_TOGETHER):
            yield from self[low : low + _READ_TOGETHER]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many words each sentence has: (sentences,)."""
        return np.diff(self.starts)

    def sentence_of_word(self) -> NDArray[np.int32]:
        """The sentence of each running word: (words,)."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.lengths)

    def each(self, value: Callable[[str], Any], dtype: DTypeLike) -> NDArray[Any]:
        """Equal to [value(word) for words in self for word in words]: (words,)."""
        return np.fromiter(map(value, self.table), dtype, count=len(self.table))[self.numbers]

    def mapped(self, other: Callable[[str], str]) -> "NumberedSentences":
        """The same sentences with another word in the place of each: [[other(word) …] …]."""
        known = Numbering()
        renumbered = np.fromiter(
            (known[other(word)] for word in self.table), np.int32, count=len(self.table)
        )
        return NumberedSentences(renumbered[self.numbers], self.starts, list(known))

    def counts(self, where: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """How often each word of the table comes, or comes where something holds: (table,).

        where: (words,)
        """
        numbers = self.numbers if where is None else self.numbers[where]
        return np.bincount(numbers, minlength=len(self.table))

    def counts_in_passages(self, size: int) -> NDArray[np.int64]:
        """In how many passages, of so many sentences each, a word of the table comes: (table,)."""
        found = np.zeros(len(self.table), dtype=np.int64)
        together = max(1, _COUNTED_TOGETHER // size) * size
        for low in range(0, len(self), together):
            starts = self.starts[low : low + together + 1]
            passage = np.repeat(np.arange(len(starts) - 1) // size, np.diff(starts))
            numbers = self.numbers[starts[0] : starts[-1]]
            pairs = np.sort(passage * len(self.table) + numbers)
            once = pairs[np.diff(pairs, prepend=-1) > 0]
            found += np.bincount(once % len(self.table), minlength=len(self.table))
        return found

    def _neighbours(self, low: int, high: int) -> list[list[str]]:
        starts = self.starts[low : high + 1]
        if len(starts) < 2:
            return []
        numbers = self.numbers[starts[0] : starts[-1]].tolist()
        words = list(map(self.table.__getitem__, numbers))
        return [words[start:end] for start, end in pairwise((starts - starts[0]).tolist())]
