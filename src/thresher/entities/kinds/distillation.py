"""Train a student's classifier of kinds on the predictions of its teacher."""

import numpy as np

from thresher.entities.kinds.classifier import KindClassifier
from thresher.entities.kinds.softmax_regression import fit_softmax_regression
from thresher.entities.kinds.span_vectors import Vectors

_PENALTY = 1e-5  # of the squared weights


def distill_kinds(
    teacher: KindClassifier, teacher_vectors: Vectors, student_vectors: Vectors
) -> KindClassifier:
    """Return a classifier that predicts the teacher's probabilities from the student's vectors.

    teacher_vectors, student_vectors: (spans, width) each, of the same spans
    """
    mean = student_vectors.mean(axis=0)
    weight, bias = fit_softmax_regression(
        student_vectors - mean,
        np.exp(teacher.log_probabilities(teacher_vectors)),
        np.ones(len(student_vectors), dtype=np.float32),
        penalty=_PENALTY,
    )
    return KindClassifier(teacher.kinds, weight, bias, mean)
