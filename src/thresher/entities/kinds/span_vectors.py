"""Vectors of spans, from which their kinds are predicted.

The vector of a span is the mean of the vectors of its words, divided by its length. Finding has
already computed the vectors of words, so kinds cost almost no time. These are vectors of a lower
layer, which say more about the word and less about the topic of the text than those of the last.
"""

from collections.abc import Sequence
from itertools import chain
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.decoding import Candidate
from thresher.gates.batching import sentence_starts
from thresher.gates.run_sums import run_sums

Vectors = NDArray[np.float32]


def span_means(vectors: Vectors, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Vectors:
    """Return the mean of the vectors of the words `start` to `end` (exclusive) of each span.

    vectors: (words, width)   starts, ends: (spans,)   returns: (spans, width)
    """
    lengths = ends - starts
    sums = run_sums(vectors, np.arange(len(vectors)), starts, lengths)
    sums /= lengths[:, None].astype(np.float32)
    return sums


def span_vectors(vectors: Vectors, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> Vectors:
    """Return `span_means`, each divided by its length."""
    return unit_length(span_means(vectors, starts, ends))


def unit_length(vectors: Vectors) -> Vectors:
    """Return the vectors divided by their lengths; zero vectors stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: Vectors = (vectors / np.maximum(lengths, 1e-6)).astype(np.float32, copy=False)
    return units


def span_bounds(
    sentences: Sequence[Sequence[str]], candidates: Sequence[Sequence[Candidate]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first word and the end of each candidate, counted through all sentences."""
    counts = list(map(len, candidates))
    offsets = np.repeat(sentence_starts(sentences)[:-1], counts)
    start, end = (
        np.fromiter(map(itemgetter(field), chain.from_iterable(candidates)), np.int64, sum(counts))
        for field in (0, 1)
    )
    return start + offsets, end + offsets


def words_of_spans(
    sentences: Sequence[Sequence[str]], candidates: Sequence[Sequence[Candidate]]
) -> NDArray[np.bool_]:
    """Return whether each word is part of a candidate: (words,)."""
    inside = np.zeros(sum(map(len, sentences)), dtype=bool)
    for start, end in zip(*span_bounds(sentences, candidates), strict=True):
        inside[start:end] = True
    return inside
