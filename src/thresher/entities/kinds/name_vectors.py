"""Vectors of names without any text around them."""

from collections.abc import Sequence

import numpy as np

from thresher.encoders.device_transfer import to_cpu
from thresher.encoders.protocol import Encoder
from thresher.entities.kinds.span_vectors import Vectors, span_vectors
from thresher.gates.batching import sentence_starts
from thresher.gates.word_vectors import encode_words

_NAMES_PER_BATCH = 1024


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
