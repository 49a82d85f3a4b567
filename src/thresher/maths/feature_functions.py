"""Feature functions φ(x, y) of log-linear models, as one tensor.

φ is (items, classes, features): φ[i, c] are the features of item i combined with class c. It may be
dense or sparse (COO): if features are words, most values are zero.
"""

import torch
from torch import Tensor


def outer_features(x: Tensor, classes: int) -> Tensor:
    """Return φ(x, y) = onehot(y) ⊗ x: each class has its own weights, and w·φ(x, y) = θ_y·x.

    `weight.view(classes, width)` of a model fitted on these is Θ.

    x: (items, width), dense or sparse   returns: (items, classes, classes·width), sparse
    """
    (item, column), value = _nonzero(x)
    items, width = x.shape
    label = torch.arange(classes, device=x.device).repeat_interleave(len(value))
    column = label * width + column.repeat(classes)
    indices = torch.stack([item.repeat(classes), label, column])
    return _sparse(indices, value.repeat(classes), (items, classes, classes * width))


def binary_features(x: Tensor) -> Tensor:
    """Return φ with φ(x, 1) = x and φ(x, 0) = 0, so that p(1 | x) = σ(w·x).

    x: (items, width), dense or sparse   returns: (items, 2, width), sparse
    """
    (item, column), value = _nonzero(x)
    items, width = x.shape
    indices = torch.stack([item, torch.ones_like(item), column])
    return _sparse(indices, value, (items, 2, width))


def mean_features(features: Tensor, prob: Tensor) -> Tensor:
    """Return (1/N) Σᵢ Σ_y prob(y | i)·φ(xᵢ, y), the mean features under a model.

    For one-hot rows of `prob`, these are the mean features of the data.

    features: (items, classes, features)   prob: (items, classes)   returns: (features,), float64
    """
    return as_matrix(features).T @ (prob.double() / len(prob)).flatten()


def as_matrix(features: Tensor) -> Tensor:
    """Return φ with a row for each pair of item and class: (items·classes, features), float64."""
    if features.dim() != 3:
        shape = tuple(features.shape)
        raise ValueError(f"`features` must be (items, classes, features), got {shape}")
    items, classes, width = features.shape
    if not features.is_sparse:
        return _check_finite(features.double()).reshape(items * classes, width)
    features = features.coalesce()
    item, label, column = features.indices()
    indices = torch.stack([item * classes + label, column])
    return _sparse(indices, _check_finite(features.values().double()), (items * classes, width))


def check_target(features: Tensor, target: Tensor) -> None:
    """Raise ValueError unless the target has one class for each item of the features."""
    if features.dim() != 3 or 0 in features.shape:
        shape = tuple(features.shape)
        raise ValueError(f"`features` must be (items, classes, features), none 0, got {shape}")
    items, classes, _ = features.shape
    if target.shape != (items,) or target.dtype != torch.long:
        given = f"{tuple(target.shape)} of {target.dtype}"
        raise ValueError(f"`target` must be ({items},) of torch.int64, got {given}")
    lowest, highest = int(target.min()), int(target.max())
    if lowest < 0 or highest >= classes:
        raise ValueError(f"`target` must be in 0 … {classes - 1}, got {lowest} … {highest}")


def _check_finite(values: Tensor) -> Tensor:
    invalid = ~values.isfinite()
    if bool(invalid.any()):
        raise ValueError(f"`features` must be finite, got {values[invalid][0].item()}")
    return values


def _nonzero(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the indices (2, entries) and values (entries,) of a matrix that are not zero."""
    if x.dim() != 2:
        raise ValueError(f"`x` must be (items, width), got {tuple(x.shape)}")
    x = (x if x.is_sparse else x.to_sparse()).coalesce()
    return x.indices(), x.values()


def _sparse(indices: Tensor, values: Tensor, size: tuple[int, ...]) -> Tensor:
    return torch.sparse_coo_tensor(indices, values, size, check_invariants=False).coalesce()
