import numpy as np
from sklearn.linear_model import LogisticRegression

from thresher.entities.kinds.classifier import KindClassifier, log_softmax
from thresher.entities.kinds.softmax_regression import fit_softmax_regression
from thresher.entities.kinds.span_vectors import span_means, span_vectors


def points(seed=0):
    random = np.random.default_rng(seed)
    labels = random.integers(3, size=200)
    centres = random.normal(size=(3, 5))
    return (centres[labels] + random.normal(size=(200, 5))).astype(np.float32), labels


def test_softmax_regression_equals_that_of_scikit_learn():
    x, y = points()
    weights = np.linspace(0.5, 2, len(x))
    penalty = 1e-2
    ours = fit_softmax_regression(x, np.eye(3)[y], weights, penalty=penalty)
    # scikit-learn minimises C Σ loss + ½ ‖W‖², so C is 1 / (2 · penalty · Σ weights).
    peer = LogisticRegression(C=1 / (2 * penalty * weights.sum()), tol=1e-8, max_iter=1000)
    expected = peer.fit(x, y, sample_weight=weights).predict_proba(x)
    np.testing.assert_allclose(np.exp(log_softmax(x @ ours[0].T + ours[1])), expected, atol=1e-3)


def test_a_classifier_is_saved_in_half_precision():
    x, y = points()
    fitted = fit_softmax_regression(x, np.eye(3)[y], np.ones(len(x)), penalty=1e-2)
    before = KindClassifier(("a", "b", "c"), *fitted, x.mean(axis=0))
    after = KindClassifier.from_arrays(before.kinds, before.to_arrays())
    np.testing.assert_allclose(after.log_probabilities(x), before.log_probabilities(x), atol=0.02)


def test_span_means_equal_means_of_slices():
    vectors = np.random.default_rng(0).normal(size=(9, 4)).astype(np.float32)
    starts, ends = np.array([0, 2, 8]), np.array([1, 6, 9])
    expected = [vectors[a:b].mean(axis=0) for a, b in zip(starts, ends, strict=True)]
    np.testing.assert_allclose(span_means(vectors, starts, ends), expected, atol=1e-6)
    lengths = np.linalg.norm(span_vectors(vectors, starts, ends), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-6)
