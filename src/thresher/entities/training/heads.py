"""A selector with what it takes to find spans by it, and which of several finds entities."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.decoding import best_threshold, candidates
from thresher.entities.finding.signal_weights import Scores, SignalWeights
from thresher.entities.finding.signals import WordSignals
from thresher.gates.selector import Selector
from thresher.gates.word_vectors import sentence_starts


@dataclass(frozen=True)
class Head:
    """A selector, how far to trust the other views beside its gates, and its threshold."""

    selector: Selector
    trust: SignalWeights
    threshold: float

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"a threshold lies in [0, 1], not {self.threshold}")

    @classmethod
    def judged(
        cls,
        selector: Selector,
        gate: Scores,
        sentences: Sequence[Sequence[str]],
        seen: WordSignals,
        *,
        not_names: Set[str],
    ) -> "Head":
        """A selector with the trust and the threshold that follow from its gates on raw text.

        gate: (words,), P(open) of every word of the sentences   seen: what else is seen of them
        """
        trust = SignalWeights.estimate(gate, seen)
        scores = trust.combine(gate, seen)
        found = [
            candidate.score
            for words, (start, end) in zip(
                sentences, pairwise(sentence_starts(sentences).tolist()), strict=True
            )
            for candidate in candidates(words, scores[start:end], not_names=not_names)
        ]
        return cls(selector, trust, best_threshold(found))


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
