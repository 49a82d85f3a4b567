"""Features added to a log-linear model one at a time, the most useful first.

The gain of a feature is how much its weight alone, all others held, can raise the penalised
log-likelihood −J:

    gain_j = J(w) − min_α J(w + α·e_j)   in nats per item.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from thresher.maths.feature_functions import check_target
from thresher.maths.loglinear import LogLinear, fit_log_linear

MAX_STEPS = 100  # of Newton's method in one dimension
BLOCK = 2**22  # numbers held at once: bounds the memory, not the result


@dataclass(frozen=True)
class Selection:
    """The features that were chosen, in order, and the model of them.

    gains: how much each raised −J once all weights were fitted again, in nats per item.
    model: its weights cover all features; they are 0 where a feature was not chosen.
    """

    chosen: tuple[int, ...]
    gains: tuple[float, ...]
    model: LogLinear


def select_features(
    features: Tensor, target: Tensor, *, penalty: float, count: int, min_gain: float = 0.0
) -> Selection:
    """Add the feature of largest gain, fit all weights again, and so on until `count` are chosen.

    Stops before when no feature left gains more than `min_gain`.

    features: (items, classes, features), dense or sparse   target: (items,), class indices
    """
    check_target(features, target)
    if not 0 <= count <= features.shape[2]:
        raise ValueError(f"count must lie in 0 … {features.shape[2]}, got {count}")
    nothing = torch.zeros(features.shape[2], dtype=torch.float64, device=features.device)
    model = LogLinear(nothing, penalty)
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
    """The gain of every feature at the weights of the model.

    features: (items, classes, features), dense or sparse   returns: (features,), float64
    """
    items, classes, width = features.shape
    log_prob = model.log_prob(features)
    places = torch.arange(width, device=features.device)
    at_once = max(1, BLOCK // (items * classes))
    blocks = [
        _gains_of_block(model, features, places[start : start + at_once], target, log_prob)
        for start in range(0, width, at_once)
    ]
    return torch.cat(blocks)


def _gains_of_block(
    model: LogLinear, features: Tensor, places: Tensor, target: Tensor, log_prob: Tensor
) -> Tensor:
    """The gains of some features at once."""
    block = features.index_select(2, places)
    block = (block.to_dense() if block.is_sparse else block).double()  # (items, classes, block)
    shown = block[torch.arange(len(target), device=target.device), target].mean(0)
    weight, penalty = model.weight[places], model.penalty
    alpha = _best_steps(block, shown, log_prob, weight, penalty)
    log_mean = (log_prob[:, :, None] + alpha * block).logsumexp(1).mean(0)
    return alpha * shown - log_mean - penalty * (weight * alpha + alpha.square() / 2)


def _best_steps(
    block: Tensor, shown: Tensor, log_prob: Tensor, weight: Tensor, penalty: float
) -> Tensor:
    """The α that minimises J(w + α·e_j), for each feature of the block by itself.

    Newton's method between what is known to lie below and above, halving where it would leave.
    """
    reach = block.abs().amax((0, 1)).clamp_min(1e-300)
    alpha = torch.zeros_like(shown)
    longest = 1000 / reach  # where curvature has vanished, a step may not overflow the exponent
    low, high = torch.full_like(shown, -torch.inf), torch.full_like(shown, torch.inf)
    for _ in range(MAX_STEPS):
        tilted = (log_prob[:, :, None] + alpha * block).softmax(1)
        mean = (tilted * block).sum(1, keepdim=True)
        slope = shown - mean.mean((0, 1)) - penalty * (weight + alpha)
        settled = slope.abs() <= 1e-12 * reach
        if bool(settled.all()):
            break
        low, high = torch.where(slope > 0, alpha, low), torch.where(slope < 0, alpha, high)
        curvature = (tilted * (block - mean).square()).sum(1).mean(0) + penalty
        newton = alpha + (slope / curvature.clamp_min(1e-300)).clamp(-longest, longest)
        inside = (newton > low) & (newton < high)
        alpha = torch.where(settled, alpha, torch.where(inside, newton, (low + high) / 2))
    return alpha


def _fit_on(chosen: list[int], features: Tensor, target: Tensor, penalty: float) -> LogLinear:
    """The model whose other weights are all 0."""
    places = torch.tensor(chosen, device=features.device)
    fitted = fit_log_linear(features.index_select(2, places), target, penalty=penalty)
    weight = fitted.weight.new_zeros(features.shape[2])
    weight[places] = fitted.weight
    return LogLinear(weight, penalty)
