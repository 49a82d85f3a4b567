"""Vectors of spans, from which their kinds are predicted.

The vector of a span has two parts, each of length 1:

    context   the mean of the vectors of its words, which finding has already computed
    name      the mean of the input embeddings of its words, which do not depend on the context
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from thresher.encoders.protocol import EmbeddingEncoder, Encoder, word_vectors

Vectors = NDArray[np.float32]
MAX_CACHED_NAMES = 20_000
_NAMES_PER_BATCH = 2048


def span_means(vectors: Vectors, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Vectors:
    """Return the mean of the vectors of the words `start` to `end` (exclusive) of each span.

    vectors: (words, width)   starts, ends: (spans,)   returns: (spans, width)
    """
    lengths = ends - starts
    if not len(lengths):
        return np.zeros((0, vectors.shape[1]), dtype=np.float32)
    first = np.cumsum(lengths) - lengths
    rows = np.arange(int(lengths.sum())) - np.repeat(first - starts, lengths)
    sums = np.add.reduceat(vectors[rows], first, axis=0)
    means: Vectors = (sums / lengths[:, None]).astype(np.float32)
    return means


def context_vectors(
    vectors: Vectors, starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> Vectors:
    """Return `span_means`, of length 1."""
    return unit_length(span_means(vectors, starts, ends))


def unit_length(vectors: Vectors) -> Vectors:
    """Return the vectors divided by their lengths; zero vectors stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: Vectors = (vectors / np.maximum(lengths, 1e-6)).astype(np.float32)
    return units


class NameEmbedder:
    """Computes the vectors of names without their context, once for each different name."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._cache: dict[str, Vectors] = {}

    def embed(self, names: Sequence[Sequence[str]]) -> Vectors:
        """Return the vectors of names that are split into words: (names, width), of length 1."""
        keys = [" ".join(words).casefold() for words in names]
        new = {key: words for key, words in zip(keys, names, strict=True) if key not in self._cache}
        if len(self._cache) + len(new) > MAX_CACHED_NAMES:
            self._cache.clear()
            new = dict(zip(keys, names, strict=True))
        words = list(new.values())
        for low in range(0, len(words), _NAMES_PER_BATCH):
            vectors = self._embed(words[low : low + _NAMES_PER_BATCH])
            self._cache.update(zip(list(new)[low : low + _NAMES_PER_BATCH], vectors, strict=True))
        if not keys:
            return np.zeros((0, self._encoder.width), dtype=np.float32)
        return np.stack([self._cache[key] for key in keys])

    def _embed(self, names: Sequence[Sequence[str]]) -> Vectors:
        with torch.inference_mode():
            batch = self._encoder.batch(names)
            if isinstance(self._encoder, EmbeddingEncoder):
                embedded = self._encoder.embed_by_word(batch)
            else:
                embedded = word_vectors(self._encoder.encode(batch), batch)
        starts = np.cumsum([0, *map(len, names)])
        return context_vectors(embedded.float().cpu().numpy(), starts[:-1], starts[1:])
