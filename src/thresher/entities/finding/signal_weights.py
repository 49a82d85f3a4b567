"""Several weak views of one hidden variable, and how far to trust each.

The gate reads meaning, the case of a word is seen, and so is whether a rare word comes again
nearby. None is sure. Their trust is estimated on raw text alone: where the gate is all but
certain (the *anchors*), the hidden label is known without asking anyone, and the other views can
be counted against it. What a view then adds to a word's log-odds is

    ⅓ log P(value | entity) / P(value | other)

a third, because there are three views and they share most of what they know. An encoder that was
trained on the same text is no view of its own, and cannot tell which words are common in general,
so neither is repetition: case is then alone, and its log ratio counts whole.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.signals import Flags, WordSignals
from thresher.entities.priors.casing import Casing

SURELY, SURELY_NOT = 0.85, 0.03  # gates above and below are anchors
LEAST_ANCHORS = 30
_VIEWS = 3

Scores = NDArray[np.float32]


@dataclass(frozen=True)
class SignalWeights:
    """What each observation adds to a word's log-odds of being an entity."""

    capital: float = 0.0
    lower: float = 0.0
    repeated: float = 0.0

    @classmethod
    def estimate(cls, gate: Scores, seen: WordSignals) -> "SignalWeights":
        """From gates and observations of raw text. Views that the anchors cannot judge get 0."""
        cased = seen.possible & (seen.casing != Casing.SILENT)
        capital = seen.casing == Casing.CAPITAL
        of_case = _log_ratio(gate, capital, among=cased), _log_ratio(gate, ~capital, among=cased)
        if seen.repeated is None:
            return cls(*of_case)
        repeated = _log_ratio(gate, seen.repeated, among=seen.possible)
        return cls(*(ratio / _VIEWS for ratio in (*of_case, repeated)))

    def combine(self, gate: Scores, seen: WordSignals) -> Scores:
        """The probability that each word belongs to an entity, all views taken together."""
        odds = np.log(np.clip(gate, 1e-6, 1 - 1e-6)) - np.log1p(-np.clip(gate, 1e-6, 1 - 1e-6))
        odds += np.where(seen.casing == Casing.CAPITAL, self.capital, 0.0)
        odds += np.where(seen.casing == Casing.LOWER, self.lower, 0.0)
        if seen.repeated is not None:
            odds += np.where(seen.repeated, self.repeated, 0.0)
        return np.where(seen.possible, 1 / (1 + np.exp(-odds)), 0.0).astype(np.float32)


def _log_ratio(gate: Scores, value: Flags, *, among: Flags) -> float:
    """log P(value | sure entity) / P(value | surely none), with add-one counts."""
    entity, other = among & (gate >= SURELY), among & (gate <= SURELY_NOT)
    if entity.sum() < LEAST_ANCHORS or other.sum() < LEAST_ANCHORS:
        return 0.0
    given_entity = (value[entity].sum() + 1) / (entity.sum() + 2)
    given_other = (value[other].sum() + 1) / (other.sum() + 2)
    return float(np.log(given_entity / given_other))
