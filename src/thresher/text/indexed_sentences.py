"""Sentences stored as arrays of word ids and a vocabulary.

Each running word takes four bytes: its index in the vocabulary. A property of words is computed
once for each distinct word and then looked up for all its occurrences. A
`SentenceStore` keeps the arrays in memory-mapped files, for corpora that are larger than memory: a
million sentences of twenty words take 80 MB on disk, and only the vocabulary is read into memory.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from thresher.errors import os_errors_as_input_errors

_SENTENCES_PER_READ = 1024  # sentences turned into arrays or lists of words at a time
_SENTENCES_PER_COUNT = 1 << 16  # sentences sorted at a time


class WordIds(dict[str, int]):
    """The id of each word; a new word gets the next free id when it is looked up."""

    def __missing__(self, word: str) -> int:
        word_id = self[word] = len(self)
        return word_id


_CACHE_SIZE = 1 << 16  # words; few words of running text are new


class WordCache(dict[str, int]):
    """`function(word)` of each word, computed when it is first looked up.

    It is emptied when it would become larger than 65,536 words.
    """

    def __init__(self, function: Callable[[str], int]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, word: str) -> int:
        if len(self) >= _CACHE_SIZE:
            self.clear()
        value = self[word] = self._function(word)
        return value


class IndexedSentences(Sequence[Sequence[str]]):
    """A sequence of sentences; getting one returns a list of its words.

    word_ids: (words,)   starts: (sentences + 1,), where each begins and where the last one ends
    vocabulary: the word of each id
    """

    def __init__(
        self, word_ids: NDArray[np.int32], starts: NDArray[np.int64], vocabulary: Sequence[str]
    ) -> None:
        if starts[0] != 0 or starts[-1] != len(word_ids):
            bounds = f"{starts[0]} and {starts[-1]}"
            rule = f"0 and the number of words, {len(word_ids)}"
            raise ValueError(f"`starts` must begin and end with {rule}, got {bounds}")
        self.word_ids = word_ids
        self.starts = starts
        self.vocabulary = vocabulary

    @classmethod
    def from_sentences(cls, sentences: Iterable[Sequence[str]]) -> "IndexedSentences":
        """Index sentences in memory; indexed sentences are returned unchanged."""
        if isinstance(sentences, IndexedSentences):
            return sentences
        ids, lengths = WordIds(), array("q", [0])
        word_ids = [np.zeros(0, np.int32)]
        remaining = iter(sentences)
        while group := list(islice(remaining, _SENTENCES_PER_READ)):
            own_lengths = list(map(len, group))
            words = map(ids.__getitem__, chain.from_iterable(group))
            word_ids.append(np.fromiter(words, np.int32, count=sum(own_lengths)))
            lengths.extend(own_lengths)
        starts = np.cumsum(lengths, dtype=np.int64)
        return IndexedSentences(np.concatenate(word_ids), starts, list(ids))

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
                return self._sentences_between(low, high)
            return [self[i] for i in range(low, high, step)]
        if not -len(self) <= index < len(self):
            raise IndexError(f"there are {len(self)} sentences, got index {index}")
        low = int(index) % len(self)
        return self._sentences_between(low, low + 1)[0]

    def __iter__(self) -> Iterator[list[str]]:
        for low in range(0, len(self), _SENTENCES_PER_READ):
            yield from self[low : low + _SENTENCES_PER_READ]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of words of each sentence: (sentences,)."""
        return np.diff(self.starts)

    def sentence_of_word(self) -> NDArray[np.int32]:
        """Return the index of the sentence of each running word: (words,)."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.lengths)

    def map_words(self, function: Callable[[str], Any], dtype: DTypeLike) -> NDArray[Any]:
        """Return [function(word) for words in self for word in words]: (words,).

        The function is called once for each word of the vocabulary.
        """
        return self.map_vocabulary(function, dtype)[self.word_ids]

    def map_vocabulary(self, function: Callable[[str], Any], dtype: DTypeLike) -> NDArray[Any]:
        """Return [function(word) for word in self.vocabulary]: (vocabulary,)."""
        return np.fromiter(map(function, self.vocabulary), dtype, count=len(self.vocabulary))

    def replace_words(self, function: Callable[[str], str]) -> "IndexedSentences":
        """Return [[function(word) for word in words] for words in self], indexed."""
        ids = WordIds()
        new_ids = np.fromiter(
            (ids[function(word)] for word in self.vocabulary), np.int32, count=len(self.vocabulary)
        )
        return IndexedSentences(new_ids[self.word_ids], self.starts, list(ids))

    def word_counts(self, where: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """Return how often each word of the vocabulary occurs: (vocabulary,).

        where: (words,), count only the running words for which it is true
        """
        word_ids = self.word_ids if where is None else self.word_ids[where]
        return np.bincount(word_ids, minlength=len(self.vocabulary))

    def passage_counts(self, size: int) -> NDArray[np.int64]:
        """Return the number of passages that contain each word of the vocabulary: (vocabulary,).

        size: the number of sentences of a passage
        """
        counts = np.zeros(len(self.vocabulary), dtype=np.int64)
        chunk = max(1, _SENTENCES_PER_COUNT // size) * size
        for low in range(0, len(self), chunk):
            starts = self.starts[low : low + chunk + 1]
            passage = np.repeat(np.arange(len(starts) - 1) // size, np.diff(starts))
            word_ids = self.word_ids[starts[0] : starts[-1]]
            pairs = np.sort(passage * len(self.vocabulary) + word_ids)
            distinct = pairs[np.diff(pairs, prepend=-1) > 0]
            counts += np.bincount(distinct % len(self.vocabulary), minlength=len(self.vocabulary))
        return counts

    def _sentences_between(self, low: int, high: int) -> list[list[str]]:
        starts = self.starts[low : high + 1]
        if len(starts) < 2:
            return []
        word_ids = self.word_ids[starts[0] : starts[-1]].tolist()
        words = list(map(self.vocabulary.__getitem__, word_ids))
        return [words[start:end] for start, end in pairwise((starts - starts[0]).tolist())]


_WORD_IDS, _STARTS, _VOCABULARY = "sentences.words", "sentences.starts", "sentences.table"
_BUFFERED_WORDS = 1 << 20  # words collected before they are written
_ENCODING = "utf-8", "surrogatepass"
_WORD_END = b"\xff"  # ends a word of the vocabulary: UTF-8 text never contains this byte


class SentenceStore(IndexedSentences):
    """Sentences stored in the files of a folder."""

    @classmethod
    def write(cls, folder: Path, sentences: Iterable[Sequence[str]]) -> "SentenceStore":
        """Write sentences to a folder as they come, and open it."""
        with os_errors_as_input_errors(f"cannot write sentences to {folder}"):
            ids = WordIds()
            with (
                (folder / _WORD_IDS).open("wb") as id_file,
                (folder / _STARTS).open("wb") as start_file,
            ):
                word_ids, starts, total = array("i"), array("q", [0]), 0
                for words in sentences:
                    word_ids.extend(map(ids.__getitem__, words))
                    total += len(words)
                    starts.append(total)
                    if len(word_ids) >= _BUFFERED_WORDS:
                        word_ids.tofile(id_file)
                        starts.tofile(start_file)
                        word_ids, starts = array("i"), array("q")
                word_ids.tofile(id_file)
                starts.tofile(start_file)
            vocabulary = b"".join(word.encode(*_ENCODING) + _WORD_END for word in ids)
            (folder / _VOCABULARY).write_bytes(vocabulary)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> "SentenceStore":
        """Map the files of a folder."""
        word_ids = _memory_mapped(folder / _WORD_IDS, np.int32)
        starts = _memory_mapped(folder / _STARTS, np.int64)
        vocabulary = (folder / _VOCABULARY).read_bytes().split(_WORD_END)[:-1]
        return cls(word_ids, starts, [word.decode(*_ENCODING) for word in vocabulary])


def _memory_mapped(path: Path, dtype: type[np.int32] | type[np.int64]) -> NDArray[Any]:
    if path.stat().st_size == 0:  # an empty file cannot be mapped
        return np.zeros(0, dtype=dtype)
    # A plain array over the mapping: a slice of a memmap takes a microsecond more.
    return np.asarray(np.memmap(path, dtype=dtype, mode="r"))
