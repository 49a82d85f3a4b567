"""Sentences on disk, for corpora larger than memory: a sequence like any other, mapped from files.

Each word is four bytes, its number in a table of the words there are; the table is all that memory
must hold. A million sentences of twenty words are 80 MB on the disk.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from thresher.errors import InputError

_NUMBERS, _STARTS, _TABLE = "sentences.words", "sentences.starts", "sentences.table"
_KEPT = 1 << 20  # words held before they are written
_ENCODING = "utf-8", "surrogatepass"
_END = b"\xff"  # of a word of the table: no text in UTF-8 has that byte


class SentenceStore(Sequence[Sequence[str]]):
    """Sentences that were written to a folder; reading one makes its words anew.

    numbers: (words,)   starts: (sentences + 1,)   table: the words there are
    """

    def __init__(
        self, numbers: NDArray[np.int32], starts: NDArray[np.int64], table: list[str]
    ) -> None:
        self._numbers = numbers
        self._starts = starts
        self._table = table

    @classmethod
    def write(cls, folder: Path, sentences: Iterable[Sequence[str]]) -> "SentenceStore":
        """Write sentences as they come, and map what was written."""
        known: dict[str, int] = {}
        try:
            with (folder / _NUMBERS).open("wb") as numbers, (folder / _STARTS).open("wb") as starts:
                kept, ends, total = array("i"), array("q", [0]), 0
                for words in sentences:
                    kept.extend(known.setdefault(word, len(known)) for word in words)
                    total += len(words)
                    ends.append(total)
                    if len(kept) >= _KEPT:
                        kept.tofile(numbers)
                        ends.tofile(starts)
                        kept, ends = array("i"), array("q")
                kept.tofile(numbers)
                ends.tofile(starts)
            table = b"".join(word.encode(*_ENCODING) + _END for word in known)
            (folder / _TABLE).write_bytes(table)
        except OSError as error:
            raise InputError(f"cannot keep sentences in {folder}: {error.strerror}") from error
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> "SentenceStore":
        """Map the sentences of a folder."""
        numbers, starts = _mapped(folder / _NUMBERS, np.int32), _mapped(folder / _STARTS, np.int64)
        table = (folder / _TABLE).read_bytes().split(_END)[:-1]
        return cls(numbers, starts, [word.decode(*_ENCODING) for word in table])

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, index: int) -> list[str]: ...

    @overload
    def __getitem__(self, index: slice) -> list[list[str]]: ...

    def __getitem__(self, index: int | slice) -> list[str] | list[list[str]]:
        if isinstance(index, slice):
            return [self._words(i) for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"there are {len(self)} sentences; got {index}")
        return self._words(int(index) % len(self))

    def __iter__(self) -> Iterator[list[str]]:
        return (self._words(index) for index in range(len(self)))

    def _words(self, index: int) -> list[str]:
        low, high = self._starts[index], self._starts[index + 1]
        return [self._table[number] for number in self._numbers[low:high].tolist()]


def _mapped(path: Path, kind: type[np.int32] | type[np.int64]) -> NDArray[Any]:
    if path.stat().st_size == 0:  # which cannot be mapped
        return np.zeros(0, dtype=kind)
    return np.memmap(path, dtype=kind, mode="r")
