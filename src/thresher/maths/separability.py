"""Detect separable data, for which the likelihood of a log-linear model has no maximum."""

import torch
from torch import Tensor

from thresher.maths.feature_functions import as_matrix

MIN_PROBABILITIES = (1.0, 1e-3, 1e-5)  # classes above one of these still limit the weights
RANK = 1e-12  # eigenvalues below this fraction of the largest count as zero
ROUNDING = 1e-9  # margins below this fraction of the largest count as zero


class SeparableDataError(ValueError):
    """The likelihood increases without limit along a direction of the weights.

    direction: (features,), see `separating_direction`
    """

    def __init__(self, direction: Tensor) -> None:
        self.direction = direction
        super().__init__(
            "the data are separable, so the likelihood has no maximum with penalty = 0; "
            "give a penalty above 0"
        )


def separating_direction(features: Tensor, target: Tensor, weight: Tensor) -> Tensor | None:
    """Return a d with d·(φ(x, y) − φ(x, y')) ≥ 0 for all items x, y and classes y', > 0 for some.

    `weight` is where a search without a penalty stopped. If such a d exists, the search followed
    it: classes y' with a positive margin have almost no probability left, the others have kept
    some. So the candidates are the weights without their components that change the margins of the
    classes that kept some probability, and the inequalities are then checked. None if no candidate
    meets them. The cost is the eigenvectors of a matrix (features, features).

    features: (items, classes, features)   target: (items,)   weight: (features,)
    """
    items, classes, _ = features.shape
    matrix = as_matrix(features)
    truth = torch.arange(items, device=target.device) * classes + target
    margins = matrix.index_select(0, truth.repeat_interleave(classes)) - matrix
    prob = (matrix @ weight).view(items, classes).softmax(1).flatten()
    noise = ROUNDING * float((margins @ weight).abs().max())
    for min_probability in MIN_PROBABILITIES:
        remaining = (prob > min_probability).nonzero().flatten()
        direction = weight - _project(weight, margins, remaining)
        change = margins @ direction
        largest = float(change.max())
        if largest > noise and float(change.min()) >= -ROUNDING * largest:
            return direction
    return None


def _project(vector: Tensor, matrix: Tensor, rows: Tensor) -> Tensor:
    """Project a vector on the span of some rows of a matrix, dense or sparse."""
    gram = vector.new_zeros(len(vector), len(vector))
    for start in range(0, len(rows), 4096):
        block = matrix.index_select(0, rows[start : start + 4096])
        block = block.to_dense() if block.is_sparse else block
        gram += block.T @ block
    values, vectors = torch.linalg.eigh(gram)
    basis = vectors[:, values > RANK * values.amax()]
    projection: Tensor = basis @ (basis.T @ vector)
    return projection
