"""Log-linear models, also called maximum-entropy classifiers and multinomial logistic regression.

    p(y | x; w) = exp(w·φ(x, y)) / Σ_y' exp(w·φ(x, y'))

The weights minimise the penalised cross-entropy, in nats and averaged over the N items:

    J(w) = −(1/N) Σᵢ log p(yᵢ | xᵢ; w) + (λ/2)·‖w‖²

so that at the minimum the mean features of the data exceed those under the model by exactly λ·w.
With λ = 0 the two are equal: of all distributions with the mean features of the data, the model is
then the one with the largest entropy. Libraries that minimise C·(sum of losses) + ½‖w‖² give the
same result with C = 1/(λ·N).
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from thresher.maths.feature_functions import as_matrix, binary_features, check_target
from thresher.maths.separability import SeparableDataError, separating_direction

MAX_STEPS = 1000  # of L-BFGS
GRADIENT_GOAL = 1e-10  # L-BFGS stops at this gradient, with features scaled to at most 1
MAX_GRADIENT = 1e-7  # counts as converged: rounding of J may stop L-BFGS before GRADIENT_GOAL


@dataclass(frozen=True)
class LogLinear:
    """A model p(y | x; w).

    weight: w, (features,), float64   penalty: λ of the fit
    """

    weight: Tensor
    penalty: float

    def log_prob(self, features: Tensor) -> Tensor:
        """Return log p(y | x; w) of every class.

        features: (items, classes, features)   returns: (items, classes), float64
        """
        scores = as_matrix(features) @ self.weight
        return scores.view(features.shape[:2]).log_softmax(1)

    def objective(self, features: Tensor, target: Tensor) -> float:
        """Return J(w) for these items.

        features: (items, classes, features)   target: (items,)
        """
        log_likelihood = self.log_prob(features).gather(1, target[:, None]).mean()
        return float(self.penalty / 2 * self.weight.square().sum() - log_likelihood)


def fit_log_linear(features: Tensor, target: Tensor, *, penalty: float) -> LogLinear:
    """Minimise J(w) from w = 0 by L-BFGS in float64; `penalty` is λ.

    With λ = 0 the minimum may not be unique (the weights θ and θ − ψ give the same model).
    Separable data then have no minimum and raise `SeparableDataError`.

    features: (items, classes, features), dense or sparse   target: (items,), class indices
    """
    if not 0 <= penalty < math.inf:
        raise ValueError(f"`penalty` must be at least 0 and finite, got {penalty}")
    check_target(features, target)
    matrix = as_matrix(features)
    scale = _max_feature(matrix)  # w·φ = (w·scale)·(φ/scale): the search uses features up to 1
    observed = torch.nn.functional.one_hot(target, features.shape[1]).double()
    weight, gradient = _minimise(matrix / scale, observed, penalty / scale**2)
    weight = weight / scale
    if penalty == 0:
        direction = separating_direction(features, target, weight)
        if direction is not None:
            raise SeparableDataError(direction)
    if not gradient <= MAX_GRADIENT:  # NaN included
        raise RuntimeError(f"no minimum of J in {MAX_STEPS} steps: the gradient is {gradient}")
    return LogLinear(weight, penalty)


def fit_binary_classifiers(x: Tensor, labels: Tensor, *, penalty: float) -> list[LogLinear]:
    """Fit one binary model p(y_l = 1 | x) = σ(θ_l·x) for each of L classes that may overlap.

    Each is a log-linear model of `binary_features(x)` and minimises its own J.

    x: (items, width), dense or sparse   labels: (items, L), bool or 0/1
    """
    features = binary_features(x)
    binary = (labels == 0) | (labels == 1)
    if labels.dim() != 2 or not bool(binary.all()):
        given = f"{tuple(labels.shape)} with {int((~binary).sum())} other values"
        raise ValueError(f"`labels` must be (items, classes) of 0 and 1, got {given}")
    return [fit_log_linear(features, y.long(), penalty=penalty) for y in labels.unbind(1)]


def _minimise(matrix: Tensor, observed: Tensor, penalty: float) -> tuple[Tensor, float]:
    """Return the weights at which L-BFGS stops, and the largest absolute gradient there."""
    weight = observed.new_zeros(matrix.shape[1]).requires_grad_()

    def closure() -> float:
        loss, weight.grad = _objective(weight.detach(), matrix, observed, penalty)
        return loss

    optimizer: torch.optim.Optimizer = torch.optim.LBFGS(
        [weight],
        max_iter=MAX_STEPS,
        tolerance_grad=GRADIENT_GOAL,
        tolerance_change=1e-16,  # continue until J no longer changes
        line_search_fn="strong_wolfe",
    )
    optimizer.step(closure)
    found = weight.detach()
    return found, float(_objective(found, matrix, observed, penalty)[1].abs().max())


def _objective(
    weight: Tensor, matrix: Tensor, observed: Tensor, penalty: float
) -> tuple[float, Tensor]:
    """Return J(w) and its gradient Σ (p − y)·φ / N + λ·w.

    matrix: (items·classes, features)   observed: (items, classes), one-hot
    """
    log_p = (matrix @ weight).view_as(observed).log_softmax(1)
    difference = (log_p.exp() - observed) / len(observed)
    loss = penalty / 2 * weight.square().sum() - (log_p * observed).sum() / len(observed)
    return float(loss), matrix.T @ difference.flatten() + penalty * weight


def _max_feature(matrix: Tensor) -> float:
    """Return the largest absolute feature, or 1 if all are 0."""
    values = matrix.values() if matrix.is_sparse else matrix
    return float(values.abs().max()) or 1.0 if values.numel() else 1.0
