"""Vectors of spans, from which their kinds are predicted.

The vector of a span is the mean of the vectors of its words, divided by its length. Finding has
already computed the vectors of words, so kinds cost almost no time. These are vectors of a lower
layer, which say more about the word and less about the topic of the text than those of the last.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from thresher.encoders.device_transfer import to_cpu
from thresher.encoders.protocol import Encoder
from thresher.gates.batching import sentence_starts
from thresher.gates.word_vectors import encode_words

Vectors = NDArray[np.float32]
_NAMES_PER_BATCH = 1024


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


def span_vectors(vectors: Vectors, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Vectors:
    """Return `span_means`, each divided by its length."""
    return unit_length(span_means(vectors, starts, ends))


def name_vectors(encoder: Encoder, names: Sequence[Sequence[str]]) -> Vectors:
    """Return the vectors of names without any text around them: (names, width).

    names: split into words
    """
    parts = [np.zeros((0, encoder.width), dtype=np.float32)]
    for low in range(0, len(names), _NAMES_PER_BATCH):
        group = names[low : low + _NAMES_PER_BATCH]
        vectors = to_cpu(encode_words(encoder, group)).float().numpy()
        starts = sentence_starts(group)
        parts.append(span_vectors(vectors, starts[:-1], starts[1:]))
    return np.concatenate(parts)


def unit_length(vectors: Vectors) -> Vectors:
    """Return the vectors divided by their lengths; zero vectors stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: Vectors = (vectors / np.maximum(lengths, 1e-6)).astype(np.float32)
    return units
