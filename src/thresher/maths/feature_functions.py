"""Feature functions φ(x, y) of log-linear models, as one tensor.

φ is (items, classes, features): for every item, what each feature would be if the item had each
class. Dense or sparse (COO) tensors serve alike; most entries are zero when features are words.
"""

import torch
from torch import Tensor


def outer_features(x: Tensor, classes: int) -> Tensor:
    """φ(x, y) = onehot(y) ⊗ x: each class has weights of its own, so that w·φ(x, y) = θ_y·x.

    `weight.view(classes, width)` of a model fitted on these is Θ.

    x: (items, width), dense or sparse   returns: (items, classes, classes·width), sparse
    """
    (item, place), value = _entries(x)
    items, width = x.shape
    label = torch.arange(classes, device=x.device).repeat_interleave(len(value))
    place = label * width + place.repeat(classes)
    indices = torch.stack([item.repeat(classes), label, place])
    return _sparse(indices, value.repeat(classes), (items, classes, classes * width))


def binary_features(x: Tensor) -> Tensor:
    """φ(x, 1) = x and φ(x, 0) = 0, so that p(1 | x) = σ(w·x).

    x: (items, width), dense or sparse   returns: (items, 2, width), sparse
    """
    (item, place), value = _entries(x)
    items, width = x.shape
    indices = torch.stack([item, torch.ones_like(item), place])
    return _sparse(indices, value, (items, 2, width))


def mean_features(features: Tensor, prob: Tensor) -> Tensor:
    """(1/N) Σᵢ Σ_y prob(y | i)·φ(xᵢ, y): what a model expects; for one-hot rows, what data show.

    features: (items, classes, features)   prob: (items, classes)   returns: (features,), float64
    """
    return as_matrix(features).T @ (prob.double() / len(prob)).flatten()


def as_matrix(features: Tensor) -> Tensor:
    """φ with a row for each pair of item and class: (items·classes, features), float64."""
    if features.dim() != 3:
        shape = tuple(features.shape)
        raise ValueError(f"features must be (items, classes, features), got {shape}")
    items, classes, width = features.shape
    if not features.is_sparse:
        return _finite(features.double()).reshape(items * classes, width)
    features = features.coalesce()
    item, label, place = features.indices()
    indices = torch.stack([item * classes + label, place])
    return _sparse(indices, _finite(features.values().double()), (items * classes, width))


def check_target(features: Tensor, target: Tensor) -> None:
    """Refuse a target that is not one class for each item of the features."""
    if features.dim() != 3 or 0 in features.shape:
        shape = tuple(features.shape)
        raise ValueError(f"features must be (items, classes, features), none 0, got {shape}")
    items, classes, _ = features.shape
    if target.shape != (items,) or target.dtype != torch.long:
        given = f"{tuple(target.shape)} of {target.dtype}"
        raise ValueError(f"target must be ({items},) of torch.int64, got {given}")
    least, greatest = int(target.min()), int(target.max())
    if least < 0 or greatest >= classes:
        raise ValueError(f"target must lie in 0 … {classes - 1}, got {least} … {greatest}")


def _finite(values: Tensor) -> Tensor:
    astray = ~values.isfinite()
    if bool(astray.any()):
        raise ValueError(f"features must be finite, got {values[astray][0].item()}")
    return values


def _entries(x: Tensor) -> tuple[Tensor, Tensor]:
    """The places (2, entries) and values (entries,) of what is not zero in a matrix."""
    if x.dim() != 2:
        raise ValueError(f"x must be (items, width), got {tuple(x.shape)}")
    x = (x if x.is_sparse else x.to_sparse()).coalesce()
    return x.indices(), x.values()


def _sparse(indices: Tensor, values: Tensor, size: tuple[int, ...]) -> Tensor:
    return torch.sparse_coo_tensor(indices, values, size, check_invariants=False).coalesce()
