"""Teach a student the kinds of its teacher."""

import numpy as np

from thresher.entities.kinds.classifier import KindClassifier
from thresher.entities.kinds.softmax_regression import fit_softmax_regression
from thresher.entities.kinds.span_vectors import Vectors

_PENALTY = 1e-5  # of the squared weights


def distill_kinds(teacher: KindClassifier, taught: Vectors, learned: Vectors) -> KindClassifier:
    """Return a classifier that predicts the teacher's probabilities from other vectors.

    taught: (spans, width), the teacher's vectors   learned: (spans, width), the student's
    """
    mean = learned.mean(axis=0)
    weight, bias = fit_softmax_regression(
        learned - mean,
        np.exp(teacher.log_probabilities(taught)),
        np.ones(len(learned), dtype=np.float32),
        penalty=_PENALTY,
    )
    return KindClassifier(teacher.kinds, weight, bias, mean)
