"""k-means, and the choice of the number of groups."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.entities.kinds.span_vectors import Vectors

_RESTARTS, _ITERATIONS = 8, 50
_SILHOUETTE_SAMPLE = 1200  # distances between so many points are computed

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Clustering:
    """Groups of points.   labels: (points,)   centres: (groups, width)"""

    labels: Labels
    centres: Vectors


def k_means(points: Vectors, groups: int, *, seed: int = 0) -> Clustering:
    """Return the best of several runs of k-means that start from k-means++ centres.

    points: (points, width)
    """
    runs = [
        _lloyd(points, _first_centres(points, groups, np.random.default_rng([seed, restart])))
        for restart in range(_RESTARTS)
    ]
    return min(runs, key=lambda run: float(np.square(points - run.centres[run.labels]).sum()))


def best_number_of_groups(points: Vectors, choices: Sequence[int], *, seed: int = 0) -> int:
    """Return the smallest number of groups whose mean silhouette is as good as the largest.

    The silhouette of a point is (b − a) / max(a, b), where a is its mean distance to its own group
    and b that to the nearest other group. Means that differ by less than the standard error of the
    largest are equally good, and then fewer groups are easier to name and to edit.
    """
    if len(choices) == 1:
        return choices[0]
    step = max(1, len(points) // _SILHOUETTE_SAMPLE)
    some = points[::step]
    distances = np.sqrt(np.maximum(_squared_distances(some, some), 0.0))
    widths = [silhouettes(distances, k_means(points, k, seed=seed).labels[::step]) for k in choices]
    means = [float(each.mean()) for each in widths]
    best = int(np.argmax(means))
    least = means[best] - float(widths[best].std()) / len(some) ** 0.5
    return next(k for k, mean in zip(choices, means, strict=True) if mean >= least)


def silhouettes(distances: Vectors, labels: Labels) -> Vectors:
    """Return the silhouette of each point, 0 for the only point of a group: (points,).

    distances: (points, points)
    """
    groups, own = np.unique(labels, return_inverse=True)
    if len(groups) < 2:
        return np.zeros(len(labels), dtype=np.float32)
    member = np.eye(len(groups), dtype=np.float32)[own]
    counts = member.sum(axis=0)
    sums = distances @ member
    rows = np.arange(len(labels))
    inner = sums[rows, own] / np.maximum(counts[own] - 1, 1)
    means = sums / counts
    means[rows, own] = np.inf
    outer = means.min(axis=1)
    widths = (outer - inner) / np.maximum(np.maximum(inner, outer), 1e-12)
    return np.where(counts[own] > 1, widths, 0.0).astype(np.float32)


def principal_components(points: Vectors, count: int) -> Vectors:
    """Return the coordinates of centred points along their principal axes: (points, count).

    The sign of an axis is such that its largest coordinate is positive, so that results are stable.
    """
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    coordinates = centred @ axes[:count].T
    largest = coordinates[np.abs(coordinates).argmax(axis=0), np.arange(coordinates.shape[1])]
    turned: Vectors = (coordinates * np.where(largest < 0, -1.0, 1.0)).astype(np.float32)
    return turned


def _first_centres(points: Vectors, groups: int, generator: np.random.Generator) -> Vectors:
    """Choose centres far from one another (k-means++)."""
    centres = [points[generator.integers(len(points))]]
    nearest = np.square(points - centres[0]).sum(axis=1, dtype=np.float64)
    for _ in range(1, groups):
        total = nearest.sum()
        chance = nearest / total if total > 0 else None  # None: all points are equally likely
        centres.append(points[generator.choice(len(points), p=chance)])
        nearest = np.minimum(nearest, np.square(points - centres[-1]).sum(axis=1))
    return np.stack(centres)


def _lloyd(points: Vectors, centres: Vectors) -> Clustering:
    """Assign points to the nearest centre and move the centres, until nothing changes."""
    labels = np.full(len(points), -1)
    for _ in range(_ITERATIONS):
        nearest = _squared_distances(points, centres).argmin(axis=1)
        if (nearest == labels).all():
            break
        labels = nearest
        member = np.eye(len(centres), dtype=np.float32)[labels]
        counts = member.sum(axis=0)[:, None]
        centres = np.where(counts > 0, member.T @ points / np.maximum(counts, 1), centres)
    return Clustering(labels, centres.astype(np.float32))


def _squared_distances(left: Vectors, right: Vectors) -> Vectors:
    squares = np.square(left).sum(axis=1)[:, None] + np.square(right).sum(axis=1)
    return np.asarray(squares - 2 * left @ right.T, dtype=np.float32)
