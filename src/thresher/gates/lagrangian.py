"""How much a term of the loss weighs: a fixed number, or a multiplier that holds it at a target."""

import math
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor


class Weighting(Protocol):
    """What a term is multiplied by."""

    @property
    def weight(self) -> float:
        """λ as it stands."""
        ...

    def weighted(self, value: Tensor) -> Tensor:
        """What the term adds to the loss of one step."""
        ...


@dataclass(frozen=True)
class FixedWeight:
    """λ · value, λ never moving."""

    weight: float

    def weighted(self, value: Tensor) -> Tensor:
        """λ · value."""
        return self.weight * value


@dataclass
class Multiplier:
    """A Lagrange multiplier λ ≥ 0 for the constraint value ≤ target. At every step

        ĉ = value − target      c ← α c + (1 − α) ĉ      λ ← λ exp(η c), kept in [least, most]

    and the term is λ c, with the gradient of λ max(0, ĉ). While the constraint is violated λ grows,
    and once it holds λ shrinks, so the share of the loss that it takes up finds itself. The bound
    at 0 is for gates: with the plain gradient of λ ĉ, those that have closed too far are pushed on
    for as long as λ takes to shrink, until their own gradients have vanished.

    smoothing: α   step: η   average: c, the moving average of ĉ
    """

    target: float
    weight: float
    smoothing: float = 0.9
    step: float = 0.1
    least: float = 1e-4
    most: float = 5.0
    average: float = 0.0

    def weighted(self, value: Tensor) -> Tensor:
        """λ c, after c and λ have moved; the gradient is that of λ · value above the target."""
        violation = value - self.target
        seen = float(violation.detach())
        self.average = self.smoothing * self.average + (1 - self.smoothing) * seen
        moved = self.weight * math.exp(self.step * self.average)
        self.weight = min(max(moved, self.least), self.most)
        above = violation.clamp(min=0)
        return self.weight * (above + (self.average - above.detach()))
