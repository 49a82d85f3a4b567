"""Learn kinds from example names by softmax regression."""

import numpy as np

from thresher.encoders.protocol import Encoder
from thresher.entities.kinds.classifier import KindClassifier, fit_softmax_regression
from thresher.entities.kinds.entity_sample import EntitySample
from thresher.entities.kinds.examples import KindExamples, folded_name, name_words
from thresher.entities.kinds.span_vectors import name_vectors

_PENALTY = 3e-5  # of the squared weights


def learn_kinds(examples: KindExamples, sample: EntitySample, encoder: Encoder) -> KindClassifier:
    """Learn a classifier of kinds from example names.

    Its training examples are the names by themselves, and their occurrences in the sample. All
    kinds have the same weight, however many names they have.
    """
    names = [(name, kind) for kind, each in enumerate(examples.names.values()) for name in each]
    kind_of_name = {folded_name(name): kind for name, kind in names}
    known = np.array([kind_of_name.get(folded_name(" ".join(n)), -1) for n in sample.names], int)
    bare = name_vectors(encoder, [name_words(name) for name, _ in names])
    mean = (sample.contexts if len(sample) else bare).mean(axis=0)
    vectors = np.vstack([bare, sample.contexts[known >= 0]]) - mean
    labels = np.concatenate([[kind for _, kind in names], known[known >= 0]]).astype(np.int64)
    counts = np.bincount(labels)
    weight, bias = fit_softmax_regression(
        vectors,
        np.eye(len(examples.kinds), dtype=np.float32)[labels],
        (1 / counts[labels]).astype(np.float32),
        penalty=_PENALTY,
    )
    return KindClassifier(examples.kinds, weight, bias, mean)
