"""When the likelihood of a log-linear model has no maximum."""

import torch
from torch import Tensor

from thresher.maths.feature_functions import as_matrix

SURVIVAL = (1.0, 1e-3, 1e-5)  # probabilities above which a class may still hold the weights back
RANK = 1e-12  # an eigenvalue this small beside the largest counts as zero
ROUNDING = 1e-9  # a margin this small beside the largest counts as zero


class SeparableDataError(ValueError):
    """Some direction of the weights raises the likelihood for ever.

    direction: (features,), see `separating_direction`.
    """

    def __init__(self, direction: Tensor) -> None:
        self.direction = direction
        super().__init__(
            "the data are separable, so the likelihood has no maximum with penalty = 0; "
            "give a penalty above 0"
        )


def separating_direction(features: Tensor, target: Tensor, weight: Tensor) -> Tensor | None:
    """A d with d·(φ(x, y) − φ(x, y')) ≥ 0 for all items x, y and rivals y', and > 0 for some.

    `weight` is where a search without a penalty stopped. If there is such a d, the search ran
    away along it: the rivals that d beats have all but vanished, and those it leaves alone have
    kept some probability. So the candidates are what is left of the weights when they may not
    move the margins of the survivors; the inequalities decide. None if no candidate meets them.
    The price is the eigenvectors of a matrix (features, features).

    features: (items, classes, features)   target: (items,)   weight: (features,)
    """
    items, classes, _ = features.shape
    matrix = as_matrix(features)
    truth = torch.arange(items, device=target.device) * classes + target
    margins = matrix.index_select(0, truth.repeat_interleave(classes)) - matrix
    prob = (matrix @ weight).view(items, classes).softmax(1).flatten()
    noise = ROUNDING * float((margins @ weight).abs().max())
    for survival in SURVIVAL:
        survivors = (prob > survival).nonzero().flatten()
        direction = weight - _projection(weight, margins, survivors)
        won = margins @ direction
        largest = float(won.max())
        if largest > noise and float(won.min()) >= -ROUNDING * largest:
            return direction
    return None


def _projection(vector: Tensor, matrix: Tensor, rows: Tensor) -> Tensor:
    """The projection of a vector on the span of some rows of a matrix, dense or sparse."""
    gram = vector.new_zeros(len(vector), len(vector))
    for start in range(0, len(rows), 4096):
        block = matrix.index_select(0, rows[start : start + 4096])
        block = block.to_dense() if block.is_sparse else block
        gram += block.T @ block
    values, vectors = torch.linalg.eigh(gram)
    basis = vectors[:, values > RANK * values.amax()]
    projection: Tensor = basis @ (basis.T @ vector)
    return projection
