"""Vectors of words or subwords, computed once before training and kept in a float16 file."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thresher.encoders.device_transfer import to_cpu, to_device
from thresher.encoders.protocol import Encoder
from thresher.errors import os_errors_as_input_errors
from thresher.gates.batching import batches_in_order, sentence_starts
from thresher.gates.choices import GateUnit
from thresher.gates.features import Features
from thresher.training_processes import SINGLE_PROCESS, Processes

_WORDS_PER_BATCH = {"cpu": 4096, "cuda": 32_768}
_SENTENCES_PER_COUNT = 1024  # tokenized at a time to count their subwords


@dataclass(frozen=True)
class UnitIndex:
    """The word and the sentence of each unit (a word or a subword).

    word: (units,), the word of each unit, numbered through all sentences
    starts: (sentences + 1,), where the units of each sentence start
    words: the number of words
    """

    word: NDArray[np.int64]
    starts: NDArray[np.int64]
    words: int

    @classmethod
    def of_words(cls, sentences: Sequence[Sequence[str]]) -> "UnitIndex":
        """Index units that are words."""
        starts = sentence_starts(sentences)
        words = int(starts[-1])
        return cls(np.arange(words), starts, words)

    @classmethod
    def of_features(
        cls, features: Features, encoder: Encoder, sentences: Sequence[Sequence[str]]
    ) -> "UnitIndex":
        """Index the units of `features`; subwords are counted with the encoder's tokenizer."""
        if features.unit == GateUnit.WORD:
            return cls.of_words(sentences)
        starts = sentence_starts(sentences)
        word = [np.zeros(0, dtype=np.int64)]
        lengths = [np.zeros(0, dtype=np.int64)]
        for low in range(0, len(sentences), _SENTENCES_PER_COUNT):
            group = sentences[low : low + _SENTENCES_PER_COUNT]
            batch = encoder.batch(group)
            inside = batch.word >= 0
            word.append(batch.word[inside].cpu().numpy() + starts[low])
            sentence = batch.sentence[:, None].expand_as(batch.word)[inside]
            lengths.append(torch.bincount(sentence, minlength=len(group)).cpu().numpy())
        unit_starts = np.cumsum([0, *np.concatenate(lengths)], dtype=np.int64)
        return cls(np.concatenate(word), unit_starts, int(starts[-1]))

    def rows(self, indices: Sequence[int]) -> NDArray[np.int64]:
        """Return the indices of the units of some sentences, one sentence after another."""
        low = self.starts[indices]
        lengths = self.starts[np.add(indices, 1)] - low
        before = np.cumsum(lengths) - lengths
        rows: NDArray[np.int64] = np.repeat(low - before, lengths) + np.arange(lengths.sum())
        return rows

    @cached_property
    def _by_word(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The words of all units in ascending order, and the unit of each."""
        order = np.argsort(self.word, kind="stable")
        return self.word[order], order

    def rows_of_words(self, start: int, end: int) -> NDArray[np.int64]:
        """Return the indices of the units of the words `start` to `end` (exclusive)."""
        words, order = self._by_word
        low, high = np.searchsorted(words, [start, end])
        return order[low:high]

    def max_per_word(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return for each word the largest value of its units, 0 if it has none: (words,)."""
        of_words = np.zeros(self.words, dtype=np.float32)
        np.maximum.at(of_words, self.word, values)
        return of_words

    def mean_per_word(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return for each word the mean vector of its units, 0 if it has none: (words, width)."""
        if len(self.word) == self.words and (self.word == np.arange(self.words)).all():
            return vectors
        sums = np.zeros((self.words, vectors.shape[1]), dtype=np.float32)
        np.add.at(sums, self.word, vectors)
        counts = np.bincount(self.word, minlength=self.words)
        means: NDArray[np.float32] = (sums / np.maximum(counts, 1)[:, None]).astype(np.float32)
        return means


def encode_words(encoder: Encoder, sentences: Sequence[Sequence[str]]) -> Tensor:
    """Return the vectors of all words, encoded in one batch: (words, width)."""
    return Features().encode(encoder, sentences)


def cache_vectors(
    encoder: Encoder,
    sentences: Sequence[Sequence[str]],
    path: Path,
    *,
    features: Features | None = None,
    units: UnitIndex | None = None,
    progress: Callable[[int], None] = lambda sentences: None,
    processes: Processes = SINGLE_PROCESS,
) -> NDArray[np.float16]:
    """Encode every unit once; return (units, width) in float16, mapped from the file at `path`.

    processes: those that divide the batches and write to the same file
    """
    features = features or Features()
    units = units or UnitIndex.of_features(features, encoder, sentences)
    if processes.is_main:
        _allocate_file(path, (len(units.word), features.width(encoder)))
    processes.wait()
    vectors: np.memmap[Any, np.dtype[np.float16]] = np.lib.format.open_memmap(path, mode="r+")
    words_per_batch = _WORDS_PER_BATCH.get(encoder.device.type, _WORDS_PER_BATCH["cpu"])
    for number, indices in enumerate(batches_in_order(sentences, words_per_batch=words_per_batch)):
        if number % processes.count == processes.rank:
            low, high = indices[0], indices[-1] + 1
            encoded = features.encode(encoder, sentences[low:high])
            vectors[units.starts[low] : units.starts[high]] = to_cpu(encoded.half()).numpy()
        progress(len(indices))
    vectors.flush()
    processes.wait()
    return vectors


def _allocate_file(path: Path, shape: tuple[int, int]) -> None:
    """Create a file for `open_memmap` with all its disk space allocated.

    Writing to a mapping for which the disk has no space would kill the process.
    """
    with os_errors_as_input_errors(f"cannot write word vectors to {path}"):
        np.lib.format.open_memmap(path, mode="w+", dtype=np.float16, shape=shape)
        if hasattr(os, "posix_fallocate"):
            with path.open("r+b") as file:
                os.posix_fallocate(file.fileno(), 0, path.stat().st_size)


@dataclass(frozen=True)
class EncodedCorpus:
    """Sentences that were encoded once, before training.

    vectors: (units, width), the input of selectors
    units: which words and sentences the units belong to
    """

    sentences: Sequence[Sequence[str]]
    vectors: NDArray[np.float16]
    units: UnitIndex

    def __post_init__(self) -> None:
        self.require_one_per_unit("vector", self.vectors)

    def require_one_per_unit(self, name: str, values: NDArray[Any]) -> None:
        """Raise ValueError unless there is one value for each unit."""
        units = int(self.units.starts[-1])
        if len(values) != units:
            raise ValueError(f"there must be one {name} per unit: {units} units, got {len(values)}")

    def words(self, indices: Sequence[int]) -> list[Sequence[str]]:
        """Return the words of some sentences."""
        return [self.sentences[i] for i in indices]

    def vectors_of(self, indices: Sequence[int], device: torch.device) -> Tensor:
        """Return the vectors of the units of some sentences: (units, width), float32."""
        return self.values_of(self.vectors, indices, device).float()

    def values_of(
        self, values: NDArray[Any], indices: Sequence[int], device: torch.device
    ) -> Tensor:
        """Return the values of the units of some sentences.

        values: (all units, …)   returns: (units, …)
        """
        return to_device(torch.from_numpy(values[self.units.rows(indices)]), device)
