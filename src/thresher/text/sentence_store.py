"""Sentences in memory-mapped files, for corpora that are larger than memory.

Only the vocabulary is read into memory. A million sentences of twenty words take 80 MB on disk.
"""

from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.errors import os_errors_as_input_errors
from thresher.text.indexed_sentences import IndexedSentences, WordIds

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
