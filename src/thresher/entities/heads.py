"""A selector with what it takes to find spans by it, and which of several finds entities."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.entities.selector import Selector
from thresher.entities.views import Scores, Trust


@dataclass(frozen=True)
class Head:
    """A selector, how far to trust the other views beside its gates, and its threshold."""

    selector: Selector
    trust: Trust
    threshold: float


def best_agreement(gates: Sequence[Scores], prior: NDArray[np.float32]) -> int:
    """The number of the selector whose gates the prior fits best; no label is asked.

    By the objective's own measure, the binary cross-entropy of P(open) to the prior over the words
    where it has an opinion. The first, where it has none.

    gates: for each selector (words,)   prior: (words,), NaN for no opinion
    """
    speaks = ~np.isnan(prior)
    if not speaks.any():
        return 0
    return int(np.argmin([_cross_entropy(each[speaks], prior[speaks]) for each in gates]))


def _cross_entropy(gate: Scores, prior: NDArray[np.float32]) -> float:
    p = np.clip(gate.astype(np.float64), 1e-6, 1 - 1e-6)
    return float(-(prior * np.log(p) + (1 - prior) * np.log1p(-p)).mean())
