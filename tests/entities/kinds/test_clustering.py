import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_samples

from thresher.entities.kinds.clustering import (
    best_number_of_groups,
    k_means,
    principal_components,
    silhouettes,
)


@pytest.fixture
def blobs():
    random = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 40)
    centres = 8 * random.normal(size=(4, 6))
    return (centres[labels] + random.normal(size=(160, 6))).astype(np.float32), labels


def test_k_means_finds_the_groups_that_scikit_learn_finds(blobs):
    points, labels = blobs
    ours = k_means(points, 4)
    assert adjusted_rand_score(ours.labels, labels) == 1
    inertia = np.square(points - ours.centres[ours.labels]).sum()
    assert inertia <= KMeans(4, n_init=10, random_state=0).fit(points).inertia_ * 1.001


def test_silhouettes_equal_those_of_scikit_learn(blobs):
    points, _ = blobs
    labels = k_means(points, 6).labels
    distances = np.linalg.norm(points[:, None] - points[None], axis=2).astype(np.float32)
    np.testing.assert_allclose(
        silhouettes(distances, labels), silhouette_samples(points, labels), atol=1e-4
    )


def test_the_number_of_separate_groups_is_chosen(blobs):
    assert best_number_of_groups(blobs[0], range(2, 9)) == 4


def test_principal_components_keep_distances_and_are_stable(blobs):
    points, _ = blobs
    reduced = principal_components(points, 6)
    before = np.linalg.norm(points[:10, None] - points[None, :10], axis=2)
    after = np.linalg.norm(reduced[:10, None] - reduced[None, :10], axis=2)
    np.testing.assert_allclose(after, before, atol=1e-3)
    np.testing.assert_allclose(principal_components(points.copy(), 6), reduced, atol=1e-4)
