"""Solve the convex dual problem of `thresher.maths.expectations` for groups of identical items.

The problem: find a probability p_g for each group, with the largest entropy, such that the expected
number of positives among the items with feature k is target_k. The solution is
p_g = σ(Σₖ λₖ·f_gk), where λ minimises the dual

    D(λ) = Σ_g size_g·log(1 + exp(λ·f_g)) − λ·target.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

TOLERANCE = 1e-9  # allowed error of a rate; rates that cannot be met this closely contradict
ROUNDING = 1e-12  # a rate this close to 0 or 1 fixes the labels of its items
MAX_STEPS = 200  # of Newton's method, which takes about 25 on hard problems
RIDGE = 1e-14  # relative to the largest curvature; redundant expectations have curvature zero


@dataclass(frozen=True)
class Problem:
    """Groups of identical items and the expected totals of their labels, all float64.

    fires: (groups, expectations), 1 if the items of a group have the feature, else 0
    size: (groups,), number of items   target: (expectations,), expected number of positives
    """

    fires: Tensor
    size: Tensor
    target: Tensor

    @property
    def count(self) -> Tensor:
        """The number of items with the feature of each expectation: (expectations,)."""
        return self.size @ self.fires

    def subset(self, groups: Tensor, expectations: Tensor) -> "Problem":
        """Return the problem of some groups and expectations (both masks), with their totals."""
        fires = self.fires[groups][:, expectations]
        return Problem(fires, self.size[groups], self.target[expectations])

    def probability(self, weights: Tensor) -> Tensor:
        """Return p = σ(f·λ): (groups,)."""
        return torch.sigmoid(self.fires @ weights)

    def excess(self, probability: Tensor) -> Tensor:
        """Return ∇D, the expected number of positives minus the target: (expectations,)."""
        return (self.size * probability) @ self.fires - self.target

    def is_met_by(self, probability: Tensor) -> bool:
        """Return True if every rate is within TOLERANCE of its target."""
        return bool((self.excess(probability).abs() <= TOLERANCE * self.count).all())

    def is_refuted_by(self, weights: Tensor) -> bool:
        """Return True if λ proves (by Farkas' lemma) that no p meets every rate within TOLERANCE.

        λ·Σ size·p·f ≤ Σ size·max(0, λ·f) for every p in [0, 1]. If λ·target exceeds this bound by a
        gap, then the errors of the totals, weighted by |λ|, add up to at least this gap.
        """
        reachable = self.size @ (self.fires @ weights).relu()
        gap = weights @ self.target - reachable
        return bool(gap > TOLERANCE * (weights.abs() @ self.count))


def solve(problem: Problem) -> tuple[Tensor, Tensor] | None:
    """Return probabilities (groups,) and weights (expectations,); None if the totals contradict.

    The weight of an expectation is NaN if all of its groups are forced to 0 or 1.
    """
    probability = _forced_labels(problem)
    if probability is None:
        return None
    free = probability.isnan()
    undecided = problem.fires[free].any(0)
    left = Problem(problem.fires, problem.size, -problem.excess(probability.nan_to_num()))
    rest = left.subset(free, undecided)
    found = _minimise(rest)
    if found is None:
        return None
    probability[free] = rest.probability(found)
    weights = torch.full_like(problem.target, torch.nan)
    weights[undecided] = found
    return probability, weights


def _forced_labels(problem: Problem) -> Tensor | None:
    """Return 0 or 1 for each group whose label one expectation determines, NaN for the others.

    Fixing some groups may determine others, so this is repeated until nothing changes. None if a
    target then is below 0 or above the number of items that are left.
    """
    fires, count = problem.fires, problem.count
    value = torch.full_like(problem.size, torch.nan)
    while True:
        free = value.isnan()
        room = (problem.size * free) @ fires
        left = -problem.excess(value.nan_to_num())
        if bool(((left < -TOLERANCE * count) | (left > room + TOLERANCE * count)).any()):
            return None
        zero = free & fires[:, left <= ROUNDING * count].any(1)
        one = free & fires[:, left >= room - ROUNDING * count].any(1)
        if not bool((zero | one).any()):
            return value
        # A group forced to both 0 and 1 makes a target unreachable, which the next round detects.
        value = value.masked_fill(zero, 0).masked_fill(one, 1)


def _minimise(problem: Problem) -> Tensor | None:
    """Minimise D by Newton's method; None as soon as a λ proves that D has no minimum."""
    weights = torch.zeros_like(problem.target)
    for _ in range(MAX_STEPS):
        if problem.is_met_by(problem.probability(weights)):
            return weights
        if problem.is_refuted_by(weights):
            return None
        step = _newton_step(problem, weights)
        weights = weights + _step_length(problem, weights, step) * step
    raise RuntimeError(f"the rates were not met within {TOLERANCE} after {MAX_STEPS} Newton steps")


def _newton_step(problem: Problem, weights: Tensor) -> Tensor:
    """Return −(∇²D)⁻¹·∇D, with a ridge for directions in which D is flat."""
    logits = problem.fires @ weights
    variance = problem.size * torch.sigmoid(logits) * torch.sigmoid(-logits)
    scale = problem.count.sqrt()  # in units of λ·scale the curvatures are comparable
    curvature = (problem.fires.T * variance) @ problem.fires / torch.outer(scale, scale)
    values, vectors = torch.linalg.eigh(curvature)
    slope = problem.excess(torch.sigmoid(logits)) / scale
    step: Tensor = vectors @ ((vectors.T @ slope) / (values.clamp_min(0) + RIDGE))
    return -step / scale


def _step_length(problem: Problem, weights: Tensor, step: Tensor) -> float:
    """Return the first of 1, ½, ¼ … that does not go far beyond the minimum along the step.

    Only slopes are compared: differences of D are lost in rounding long before its gradient is.
    """

    def slope(length: float) -> float:
        return float(problem.excess(problem.probability(weights + length * step)) @ step)

    length, limit = 1.0, 0.1 * abs(slope(0.0))
    while slope(length) > limit and length > 1e-15:
        length /= 2
    return length
