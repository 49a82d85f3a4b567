"""The convex problem behind `thresher.maths.expectations`, over groups of identical items.

Find the coins p (one per group, all items of a group alike) of largest entropy whose expected
number of positives among the items that fire expectation k is target_k. They are
p_g = σ(Σₖ λₖ·f_gk), and λ minimises the dual

    D(λ) = Σ_g size_g·log(1 + exp(λ·f_g)) − λ·target.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

TOLERANCE = 1e-9  # of a rate: met when this near, contradictory when nothing comes this near
ROUNDING = 1e-12  # of a rate: so near to none or to all, it forces its items
MAX_STEPS = 200  # of Newton's method, which takes about 25 on hard problems
RIDGE = 1e-14  # relative to the largest curvature: redundant expectations leave some at zero


@dataclass(frozen=True)
class Problem:
    """Groups of identical items and the totals they should add up to, all float64.

    fires: (groups, expectations), 0 or 1   size: (groups,)   target: (expectations,)
    """

    fires: Tensor
    size: Tensor
    target: Tensor

    @property
    def count(self) -> Tensor:
        """The number of items that fire each expectation: (expectations,)."""
        return self.size @ self.fires

    def only(self, groups: Tensor, expectations: Tensor) -> "Problem":
        """The problem of some groups (a mask) and some expectations (a mask), totals unchanged."""
        fires = self.fires[groups][:, expectations]
        return Problem(fires, self.size[groups], self.target[expectations])

    def probability(self, weights: Tensor) -> Tensor:
        """p = σ(f·λ): (groups,)."""
        return torch.sigmoid(self.fires @ weights)

    def excess(self, probability: Tensor) -> Tensor:
        """Expected minus stated number of positives, which is ∇D: (expectations,)."""
        return (self.size * probability) @ self.fires - self.target

    def is_met_by(self, probability: Tensor) -> bool:
        """Whether every rate is within TOLERANCE of the stated one."""
        return bool((self.excess(probability).abs() <= TOLERANCE * self.count).all())

    def is_refuted_by(self, weights: Tensor) -> bool:
        """Whether λ proves (as Farkas did) that no p comes within TOLERANCE of every rate.

        λ·Σ size·p·f ≤ Σ size·max(0, λ·f) for every p in [0, 1]. If λ·target lies above that by a
        gap, then the misses of the totals, weighted by |λ|, add up to the gap at least.
        """
        reachable = self.size @ (self.fires @ weights).relu()
        gap = weights @ self.target - reachable
        return bool(gap > TOLERANCE * (weights.abs() @ self.count))


def solve(problem: Problem) -> tuple[Tensor, Tensor] | None:
    """Probabilities (groups,) and weights (expectations,); None if the totals contradict.

    The weight of an expectation is NaN where all of its groups are forced to 0 or 1.
    """
    probability = _forced(problem)
    if probability is None:
        return None
    free = probability.isnan()
    undecided = problem.fires[free].any(0)
    left = Problem(problem.fires, problem.size, -problem.excess(probability.nan_to_num()))
    rest = left.only(free, undecided)
    found = _minimise(rest)
    if found is None:
        return None
    probability[free] = rest.probability(found)
    weights = torch.full_like(problem.target, torch.nan)
    weights[undecided] = found
    return probability, weights


def _forced(problem: Problem) -> Tensor | None:
    """0 or 1 for each group to which one expectation leaves no choice, NaN for the others.

    Fixing some groups may leave others no choice, so repeat until nothing changes. None if an
    expectation then asks for fewer or more than can be.
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
        # A group forced both ways asks too much of one side, which the next round will find.
        value = value.masked_fill(zero, 0).masked_fill(one, 1)


def _minimise(problem: Problem) -> Tensor | None:
    """The λ that minimises D, by Newton's method; None once a λ proves that none can."""
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
    """−(∇²D)⁻¹·∇D, with a ridge for directions in which D is flat."""
    logits = problem.fires @ weights
    variance = problem.size * torch.sigmoid(logits) * torch.sigmoid(-logits)
    scale = problem.count.sqrt()  # in units of λ·scale the curvatures are comparable
    curvature = (problem.fires.T * variance) @ problem.fires / torch.outer(scale, scale)
    values, vectors = torch.linalg.eigh(curvature)
    slope = problem.excess(torch.sigmoid(logits)) / scale
    step: Tensor = vectors @ ((vectors.T @ slope) / (values.clamp_min(0) + RIDGE))
    return -step / scale


def _step_length(problem: Problem, weights: Tensor, step: Tensor) -> float:
    """The first of 1, ½, ¼ … that does not climb far beyond the minimum along the step.

    Judged by the slope alone: differences of D drown in rounding long before its gradient does.
    """

    def slope(length: float) -> float:
        return float(problem.excess(problem.probability(weights + length * step)) @ step)

    length, limit = 1.0, 0.1 * abs(slope(0.0))
    while slope(length) > limit and length > 1e-15:
        length /= 2
    return length
