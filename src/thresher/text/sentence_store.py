"""Sentences on disk, for corpora larger than memory: a sequence like any other, mapped from files.

The table of the words there are is all that memory must hold. A million sentences of twenty words
are 80 MB on the disk.
"""

from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.errors import InputError
from thresher.text.indexed_sentences import NumberedSentences, Numbering

_NUMBERS, _STARTS, _TABLE = "sentences.words", "sentences.starts", "sentences.table"
_KEPT = 1 << 20  # words held before they are written
_ENCODING = "utf-8", "surrogatepass"
_END = b"\xff"  # of a word of the table: no text in UTF-8 has that byte


class SentenceStore(NumberedSentences):
    """Sentences that were written to a folder."""

    @classmethod
    def write(cls, folder: Path, sentences: Iterable[Sequence[str]]) -> "SentenceStore":
        """Write sentences as they come, and map what was written."""
        known = Numbering()
        try:
            with (folder / _NUMBERS).open("wb") as numbers, (folder / _STARTS).open("wb") as starts:
                kept, ends, total = array("i"), array("q", [0]), 0
                for words in sentences:
                    kept.extend(map(known.__getitem__, words))
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


def _mapped(path: Path, kind: type[np.int32] | type[np.int64]) -> NDArray[Any]:
    if path.stat().st_size == 0:  # which cannot be mapped
        return np.zeros(0, dtype=kind)
    # A plain array over the mapping: a slice of a memmap takes a microsecond more.
    return np.asarray(np.memmap(path, dtype=kind, mode="r"))
