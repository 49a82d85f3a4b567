"""Detect gates that have collapsed: closed, or open, on nearly all words."""

from dataclasses import dataclass


@dataclass(frozen=True)
class OpenRateLimits:
    """The fractions of selected words between which gates are taken to select something."""

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
