"""What the gates of the English students learn: the mean of two finders on raw text.

The teacher and the multilingual model were both trained without labels. Their encoders know
different words, so the mean of their log-odds is better than either. The multilingual encoder is
too slow for the English models, but its gates can be learned.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import MODELS, TEACHER, raw_english
from thresher.entities.built_in import MULTILINGUAL
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.signal_weights import Scores, gate_log_odds

_FILE = MODELS / "gate_targets.npz"


@dataclass(frozen=True)
class GateTargets:
    """Targets for every word of the raw text.

    gates: (words,), P(open)   links: (words,), log-odds that a word and the next one are linked
    """

    gates: Scores
    links: NDArray[np.float32]

    @classmethod
    def of_raw_text(cls) -> "GateTargets":
        """Return the targets for `raw_sentences()`; they are computed once and kept in a file."""
        if not _FILE.exists():
            targets = cls.mean([EntityFinder.load(TEACHER), EntityFinder.load(MULTILINGUAL)])
            _FILE.parent.mkdir(parents=True, exist_ok=True)
            np.savez(_FILE, gates=targets.gates, links=targets.links)
        with np.load(_FILE) as saved:
            return cls(saved["gates"], saved["links"])

    @classmethod
    def mean(cls, finders: list[EntityFinder]) -> "GateTargets":
        """Return the means of the log-odds of several finders on the raw text."""
        gates, links = [], []
        for finder in finders:
            own_gates, own_links = finder.word_scorer.gates_and_links(raw_sentences())
            assert own_links is not None
            gates.append(gate_log_odds(own_gates))
            links.append(own_links)
        odds = np.mean(gates, axis=0)
        return cls((1 / (1 + np.exp(-odds))).astype(np.float32), np.mean(links, axis=0))


def raw_sentences() -> list[list[str]]:
    """Return the sentences of the raw text that have words."""
    return [words for words in raw_english() if words]
