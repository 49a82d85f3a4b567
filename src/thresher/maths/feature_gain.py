"""Select features of a log-linear model one at a time, by their gain.

The gain of a feature is the largest increase of the penalised log-likelihood −J by changing only
the weight of this feature:

    gain_j = J(w) − min_α J(w + α·e_j)   in nats per item.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from thresher.maths.feature_functions import check_target
from thresher.maths.loglinear import LogLinear, fit_log_linear

MAX_STEPS = 100  # of Newton's method in one dimension
BLOCK_VALUES = 2**22  # values in memory at once; does not change the result


@dataclass(frozen=True)
class Selection:
    """The selected features in order, and the model fitted on them.

    gains: the increase of −J by each feature after all weights were fitted again, in nats per item
    model: has weights for all features; they are 0 for those that were not selected
    """

    chosen: tuple[int, ...]
    gains: tuple[float, ...]
    model: LogLinear


def select_features(
    features: Tensor, target: Tensor, *, penalty: float, count: int, min_gain: float = 0.0
) -> Selection:
    """Add the feature with the largest gain and fit all weights again, until `count` are selected.

    Stops earlier if no remaining feature has a gain above `min_gain`.

    features: (items, classes, features), dense or sparse   target: (items,), class indices
    """
    check_target(features, target)
    if not 0 <= count <= features.shape[2]:
        raise ValueError(f"`count` must be in 0 … {features.shape[2]}, got {count}")
    zeros = torch.zeros(features.shape[2], dtype=torch.float64, device=features.device)
    model = LogLinear(zeros, penalty)
    chosen: list[int] = []
    gains: list[float] = []
    while len(chosen) < count:
        gain = feature_gains(model, features, target)
        gain[chosen] = -torch.inf
        best = int(gain.argmax())
        if gain[best] <= min_gain:
            break
        chosen.append(best)
        before = model.objective(features, target)
        model = _fit_on(chosen, features, target, penalty)
        gains.append(before - model.objective(features, target))
    return Selection(tuple(chosen), tuple(gains), model)


def feature_gains(model: LogLinear, features: Tensor, target: Tensor) -> Tensor:
    """Return the gain of every feature at the weights of the model.

    features: (items, classes, features), dense or sparse   returns: (features,), float64
    """
    items, classes, width = features.shape
    log_prob = model.log_prob(features)
    columns = torch.arange(width, device=features.device)
    block = max(1, BLOCK_VALUES // (items * classes))
    blocks = [
        _block_gains(model, features, columns[start : start + block], target, log_prob)
        for start in range(0, width, block)
    ]
    return torch.cat(blocks)


def _block_gains(
    model: LogLinear, features: Tensor, columns: Tensor, target: Tensor, log_prob: Tensor
) -> Tensor:
    """Return the gains of some features: (columns,)."""
    block = features.index_select(2, columns)
    block = (block.to_dense() if block.is_sparse else block).double()  # (items, classes, block)
    observed = block[torch.arange(len(target), device=target.device), target].mean(0)
    weight, penalty = model.weight[columns], model.penalty
    alpha = _best_steps(block, observed, log_prob, weight, penalty)
    log_mean = (log_prob[:, :, None] + alpha * block).logsumexp(1).mean(0)
    return alpha * observed - log_mean - penalty * (weight * alpha + alpha.square() / 2)


def _best_steps(
    block: Tensor, observed: Tensor, log_prob: Tensor, weight: Tensor, penalty: float
) -> Tensor:
    """Return the α that minimises J(w + α·e_j) for each feature of the block separately.

    Newton's method with a bracket around the minimum; a step that leaves it is replaced by
    bisection.

    block: (items, classes, block)   observed: (block,), mean feature of the data
    """
    scale = block.abs().amax((0, 1)).clamp_min(1e-300)
    alpha = torch.zeros_like(observed)
    max_step = 1000 / scale  # without curvature, a longer step would overflow the exponential
    low, high = torch.full_like(observed, -torch.inf), torch.full_like(observed, torch.inf)
    for _ in range(MAX_STEPS):
        tilted = (log_prob[:, :, None] + alpha * block).softmax(1)
        mean = (tilted * block).sum(1, keepdim=True)
        slope = observed - mean.mean((0, 1)) - penalty * (weight + alpha)
        converged = slope.abs() <= 1e-12 * scale
        if bool(converged.all()):
            break
        low, high = torch.where(slope > 0, alpha, low), torch.where(slope < 0, alpha, high)
        curvature = (tilted * (block - mean).square()).sum(1).mean(0) + penalty
        newton = alpha + (slope / curvature.clamp_min(1e-300)).clamp(-max_step, max_step)
        inside = (newton > low) & (newton < high)
        alpha = torch.where(converged, alpha, torch.where(inside, newton, (low + high) / 2))
    return alpha


def _fit_on(chosen: list[int], features: Tensor, target: Tensor, penalty: float) -> LogLinear:
    """Fit a model on the chosen features; all other weights are 0."""
    columns = torch.tensor(chosen, device=features.device)
    fitted = fit_log_linear(features.index_select(2, columns), target, penalty=penalty)
    weight = fitted.weight.new_zeros(features.shape[2])
    weight[columns] = fitted.weight
    return LogLinear(weight, penalty)
