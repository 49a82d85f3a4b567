"""Word vectors computed once: float16 on disk, read back through memory mapping."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thresher.encoders.protocol import Encoder, word_vectors
from thresher.errors import InputError

TOKENS_PER_BATCH = 4096


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


def encode_words(encoder: Encoder, sentences: Sequence[Sequence[str]]) -> Tensor:
    """The vectors of all words of the sentences, in one batch: (words, width)."""
    with torch.inference_mode():
        batch = encoder.batch(sentences)
        return word_vectors(encoder.encode(batch), batch)


def cache_vectors(
    encoder: Encoder,
    sentences: Sequence[Sequence[str]],
    path: Path,
    *,
    progress: Callable[[int], None] = lambda sentences: None,
) -> NDArray[np.float16]:
    """Encode every word once; (words, width) in float16, mapped from the file at `path`."""
    starts = sentence_starts(sentences)
    vectors = _new_file(path, (int(starts[-1]), encoder.width))
    for indices in batches_by_length(sentences, words_per_batch=TOKENS_PER_BATCH):
        encoded = encode_words(encoder, [sentences[i] for i in indices])
        rows = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in indices])
        vectors[rows] = encoded.to("cpu", torch.float16).numpy()
        progress(len(indices))
    vectors.flush()
    return vectors


def _new_file(
    path: Path, shape: tuple[int, int]
) -> np.memmap[tuple[int, ...], np.dtype[np.float16]]:
    """A mapped file whose room on the disk is taken at once: a full disk is known now.

    Writing to a mapping that the disk has no room for would end the process.
    """
    try:
        vectors = np.lib.format.open_memmap(path, mode="w+", dtype=np.float16, shape=shape)
        if hasattr(os, "posix_fallocate"):
            with path.open("r+b") as file:
                os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
    except OSError as error:
        raise InputError(f"cannot keep word vectors in {path}: {error.strerror}") from error
    return vectors


def sentence_starts(sentences: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """Where each sentence starts among all words, and where the last one ends: (sentences + 1,)."""
    return np.cumsum([0, *map(len, sentences)], dtype=np.int64)
