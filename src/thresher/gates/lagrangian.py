"""Weights of the terms of a loss: fixed, or Lagrange multipliers that hold a term at a target.

`OpenRateLimits` detects gates that collapse under such weights.
"""

import math
from dataclasses import dataclass

from torch import Tensor


@dataclass
class TermWeight:
    """The weight λ of a term, fixed if it has no target.

    With a target, λ is a Lagrange multiplier for the constraint value ≤ target. At every step

        c ← α c + (1 − α) (value − target)      λ ← λ exp(η c), kept in [min_weight, max_weight]

    While the constraint is violated λ grows, and once it holds λ shrinks.

    smoothing: α   step: η   average: c, the moving average of the violation
    """

    weight: float
    target: float | None = None
    smoothing: float = 0.9
    step: float = 0.1
    min_weight: float = 1e-4
    max_weight: float = 5.0
    average: float = 0.0

    def update(self, violation: float) -> None:
        """Update c and λ, given value − target."""
        self.average = self.smoothing * self.average + (1 - self.smoothing) * violation
        weight = self.weight * math.exp(self.step * self.average)
        self.weight = min(max(weight, self.min_weight), self.max_weight)

    def update_for(self, value: float) -> None:
        """Update c and λ after a step in which the term had this value; a fixed weight stays."""
        if self.target is not None:
            self.update(value - self.target)

    def penalty(self, value: Tensor) -> Tensor:
        """Return the term's part of the loss: λ · value; with a target update c and λ, then λ c.

        With a target the gradient is that of λ max(0, value − target). With the plain gradient of
        λ · value, gates that have closed too far would be closed further for as long as λ takes to
        shrink, until their own gradients have vanished.
        """
        if self.target is None:
            return self.weight * value
        violation = value - self.target
        self.update(float(violation.detach()))
        excess = violation.clamp(min=0)
        return self.weight * (excess + (self.average - excess.detach()))


@dataclass(frozen=True)
class OpenRateLimits:
    """The lowest and the highest fraction of selected words that is not a collapse."""

    low: float
    high: float

    def collapse(self, selected: float) -> str | None:
        """Describe the collapse of gates that select this fraction of words; None if there is none.

        >>> OpenRateLimits(0.01, 0.6).collapse(0.002)
        'closed nearly everywhere (0.2% of words selected)'
        """
        if self.low <= selected <= self.high:
            return None
        state = "closed nearly everywhere" if selected < self.low else "open on most words"
        return f"{state} ({selected:.1%} of words selected)"
