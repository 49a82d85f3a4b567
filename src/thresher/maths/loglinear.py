"""Log-linear models, also called maximum-entropy classifiers and multinomial logistic regression.

    p(y | x; w) = exp(w·φ(x, y)) / Σ_y' exp(w·φ(x, y'))

The weights minimise the penalised cross-entropy, in nats and averaged over the N items:

    J(w) = −(1/N) Σᵢ log p(yᵢ | xᵢ; w) + (λ/2)·‖w‖²

so that at the minimum the mean features shown by the data exceed those expected by the model by
exactly λ·w. With λ = 0 the two are equal: of all distributions that expect what the data show,
the model is then the one of largest entropy. A library that weighs the *summed* loss by C against
½‖w‖² does the same with C = 1/(λ·N).
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from thresher.maths.feature_functions import as_matrix, binary_features, check_target
from thresher.maths.separability import SeparableDataError, separating_direction

MAX_STEPS = 1000  # of L-BFGS
GOAL = 1e-10  # the gradient at which L-BFGS stops, where the largest feature is 1
CONVERGED = 1e-7  # the gradient that counts as zero: the rounding of J may stop it before GOAL


@dataclass(frozen=True)
class LogLinear:
    """p(y | x; w) by its weights (features,), float64, and the penalty λ they were fitted with."""

    weight: Tensor
    penalty: float

    def log_prob(self, features: Tensor) -> Tensor:
        """log p(y | x; w) of every class.

        features: (items, classes, features)   returns: (items, classes), float64
        """
        scores = as_matrix(features) @ self.weight
        return scores.view(features.shape[:2]).log_softmax(1)

    def objective(self, features: Tensor, target: Tensor) -> float:
        """J(w) on these items: what the fit minimises.

        features: (items, classes, features)   target: (items,)
        """
        log_likelihood = self.log_prob(features).gather(1, target[:, None]).mean()
        return float(self.penalty / 2 * self.weight.square().sum() - log_likelihood)


def fit_log_linear(features: Tensor, target: Tensor, *, penalty: float) -> LogLinear:
    """Minimise J(w) from w = 0, by L-BFGS in float64; `penalty` is λ.

    With λ = 0 the minimum need not be unique (the weights θ and θ − ψ give the same model), and
    there is none for separable data, which raise `SeparableDataError`.

    features: (items, classes, features), dense or sparse   target: (items,), class indices
    """
    if not 0 <= penalty < math.inf:
        raise ValueError(f"penalty must be at least 0 and finite, got {penalty}")
    check_target(features, target)
    matrix = as_matrix(features)
    scale = _largest(matrix)  # w·φ = (w·scale)·(φ/scale): the search sees features up to 1
    observed = torch.nn.functional.one_hot(target, features.shape[1]).double()
    weight, slope = _minimum(matrix / scale, observed, penalty / scale**2)
    weight = weight / scale
    if penalty == 0:
        direction = separating_direction(features, target, weight)
        if direction is not None:
            raise SeparableDataError(direction)
    if not slope <= CONVERGED:  # NaN included
        raise RuntimeError(f"no minimum of J in {MAX_STEPS} steps: its gradient is still {slope}")
    return LogLinear(weight, penalty)


def fit_binary_classifiers(x: Tensor, labels: Tensor, *, penalty: float) -> list[LogLinear]:
    """For L classes that need not exclude each other: L binary models, p(y_l = 1 | x) = σ(θ_l·x).

    Each is a log-linear model of `binary_features(x)` and minimises its own J.

    x: (items, width), dense or sparse   labels: (items, L), bool or 0/1
    """
    features = binary_features(x)
    binary = (labels == 0) | (labels == 1)
    if labels.dim() != 2 or not bool(binary.all()):
        given = f"{tuple(labels.shape)} with {int((~binary).sum())} other values"
        raise ValueError(f"labels must be (items, classes) of 0 and 1, got {given}")
    return [fit_log_linear(features, y.long(), penalty=penalty) for y in labels.unbind(1)]


def _minimum(matrix: Tensor, observed: Tensor, penalty: float) -> tuple[Tensor, float]:
    """Where L-BFGS ends, and the largest slope there: far away if there is no minimum."""
    weight = observed.new_zeros(matrix.shape[1]).requires_grad_()

    def closure() -> float:
        loss, weight.grad = _objective(weight.detach(), matrix, observed, penalty)
        return loss

    search: torch.optim.Optimizer = torch.optim.LBFGS(
        [weight],
        max_iter=MAX_STEPS,
        tolerance_grad=GOAL,
        tolerance_change=1e-16,  # go on until J no longer changes
        line_search_fn="strong_wolfe",
    )
    search.step(closure)
    found = weight.detach()
    return found, float(_objective(found, matrix, observed, penalty)[1].abs().max())


def _objective(
    weight: Tensor, matrix: Tensor, observed: Tensor, penalty: float
) -> tuple[float, Tensor]:
    """J(w) and its gradient Σ (p − y)·φ / N + λ·w.

    matrix: (items·classes, features)   observed: (items, classes), one-hot
    """
    log_p = (matrix @ weight).view_as(observed).log_softmax(1)
    surplus = (log_p.exp() - observed) / len(observed)
    loss = penalty / 2 * weight.square().sum() - (log_p * observed).sum() / len(observed)
    return float(loss), matrix.T @ surplus.flatten() + penalty * weight


def _largest(matrix: Tensor) -> float:
    """The largest feature in absolute value, or 1 if none ever fires."""
    values = matrix.values() if matrix.is_sparse else matrix
    return float(values.abs().max()) or 1.0 if values.numel() else 1.0
