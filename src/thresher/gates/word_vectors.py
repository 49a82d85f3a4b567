"""The vectors of words or subwords, computed once: float16 on disk, read through a mapping."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thresher.encoders.device_transfer import to_cpu
from thresher.encoders.protocol import Encoder
from thresher.errors import os_errors_as_input_errors
from thresher.gates.distributed import SINGLE_PROCESS, ProcessGroup
from thresher.gates.features import Features
from thresher.text.indexed_sentences import IndexedSentences

_WORDS_PER_BATCH = {"cpu": 4096, "cuda": 32_768}
_COUNTED = 1024  # sentences tokenised at a time to count their subwords


@dataclass(frozen=True)
class Units:
    """The units of sentences in turn.

    word: (units,), the word of each, counted through all sentences
    starts: (sentences + 1,), where each sentence starts among the units
    words: how many words there are
    """

    word: NDArray[np.int64]
    starts: NDArray[np.int64]
    words: int

    @classmethod
    def of(
        cls, features: Features, encoder: Encoder, sentences: Sequence[Sequence[str]]
    ) -> "Units":
        """Those of words are counted, those of subwords need the tokenizer."""
        starts = sentence_starts(sentences)
        words = int(starts[-1])
        if features.unit == "word":
            return cls(np.arange(words), starts, words)
        parts = [np.zeros(0, dtype=np.int64)]
        lengths = [np.zeros(0, dtype=np.int64)]
        for low in range(0, len(sentences), _COUNTED):
            group = sentences[low : low + _COUNTED]
            batch = encoder.batch(group)
            inside = batch.word >= 0
            parts.append(batch.word[inside].cpu().numpy() + starts[low])
            sentence = batch.sentence[:, None].expand_as(batch.word)[inside]
            lengths.append(torch.bincount(sentence, minlength=len(group)).cpu().numpy())
        return cls(
            np.concatenate(parts), np.cumsum([0, *np.concatenate(lengths)], dtype=np.int64), words
        )

    def rows(self, indices: Sequence[int]) -> NDArray[np.int64]:
        """Where the units of some sentences are among all: the range of each, one after another."""
        low = self.starts[indices]
        lengths = self.starts[np.add(indices, 1)] - low
        before = np.cumsum(lengths) - lengths
        rows: NDArray[np.int64] = np.repeat(low - before, lengths) + np.arange(lengths.sum())
        return rows

    def largest(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """For each word the largest value of its units, 0 if it has none: (words,)."""
        of_words = np.zeros(self.words, dtype=np.float32)
        np.maximum.at(of_words, self.word, values)
        return of_words


def batches_by_length(
    sentences: Sequence[Sequence[str]], *, words_per_batch: int
) -> Iterator[list[int]]:
    """Indices of sentences of like length, at most `words_per_batch` words of padding included."""
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
    """Indices of neighbouring sentences, at most `words_per_batch` words; for `Encoder.encode`.

    That deals with lengths itself, and with different ones best.
    """
    starts = sentence_starts(sentences)
    low = 0
    while low < len(sentences):
        high = int(np.searchsorted(starts, starts[low] + words_per_batch, side="right")) - 1
        high = max(high, low + 1)
        yield list(range(low, high))
        low = high


def encode_words(encoder: Encoder, sentences: Sequence[Sequence[str]]) -> Tensor:
    """The vectors of all words of the sentences, in one batch: (words, width)."""
    return Features().read(encoder, sentences)


def cache_vectors(
    encoder: Encoder,
    sentences: Sequence[Sequence[str]],
    path: Path,
    *,
    features: Features | None = None,
    units: Units | None = None,
    progress: Callable[[int], None] = lambda sentences: None,
    processes: ProcessGroup = SINGLE_PROCESS,
) -> NDArray[np.float16]:
    """Encode every unit once; (units, width) in float16, mapped from the file at `path`.

    Several processes write the same file, every one its own batches.
    """
    features = features or Features()
    units = units or Units.of(features, encoder, sentences)
    if processes.is_main:
        _new_file(path, (len(units.word), features.width(encoder)))
    processes.wait()
    vectors: np.memmap[Any, np.dtype[np.float16]] = np.lib.format.open_memmap(path, mode="r+")
    most = _WORDS_PER_BATCH.get(encoder.device.type, _WORDS_PER_BATCH["cpu"])
    for number, indices in enumerate(batches_in_order(sentences, words_per_batch=most)):
        if number % processes.count == processes.rank:
            low, high = indices[0], indices[-1] + 1
            encoded = features.read(encoder, sentences[low:high])
            own = slice(units.starts[low], units.starts[high])
            vectors[own] = to_cpu(encoded.half()).numpy()
        progress(len(indices))
    vectors.flush()
    processes.wait()
    return vectors


def _new_file(path: Path, shape: tuple[int, int]) -> None:
    """A file to be mapped, whose room on the disk is taken at once: a full disk is known now.

    Writing to a mapping that the disk has no room for would end the process.
    """
    with os_errors_as_input_errors(f"cannot write word vectors to {path}"):
        np.lib.format.open_memmap(path, mode="w+", dtype=np.float16, shape=shape)
        if hasattr(os, "posix_fallocate"):
            with path.open("r+b") as file:
                os.posix_fallocate(file.fileno(), 0, path.stat().st_size)


def sentence_starts(sentences: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """Where each sentence starts among all words, and where the last one ends: (sentences + 1,)."""
    if isinstance(sentences, IndexedSentences):
        return sentences.starts
    return np.cumsum([0, *map(len, sentences)], dtype=np.int64)
