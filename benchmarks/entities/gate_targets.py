"""What the gates of the English students learn: a weighted mean of two finders on raw text.

The teacher and the multilingual model were both trained without labels. Their encoders know
different words, so a mean of their log-odds is better than either. The multilingual encoder is too
slow for the English models, but its gates can be learned.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import MODELS, TEACHER, raw_english
from thresher.entities.built_in import MULTILINGUAL
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.signal_weights import Scores, gate_log_odds

MULTILINGUAL_WEIGHT = 0.2
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
        """Return the targets for `raw_sentences()`."""
        gates, links = _log_odds_of_both()
        weights = np.array([1 - MULTILINGUAL_WEIGHT, MULTILINGUAL_WEIGHT], dtype=np.float32)
        return cls(1 / (1 + np.exp(-(weights @ gates))), weights @ links)


def _log_odds_of_both() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the log-odds of gates and links of the teacher and the multilingual model.

    They are computed once and kept in a file.   returns: (2, words) each
    """
    if not _FILE.exists():
        gates, links = [], []
        for name in (TEACHER, MULTILINGUAL):
            own_gates, own_links = EntityFinder.load(name).word_scorer.gates_and_links(
                raw_sentences()
            )
            assert own_links is not None
            gates.append(gate_log_odds(own_gates))
            links.append(own_links)
        _FILE.parent.mkdir(parents=True, exist_ok=True)
        np.savez(_FILE, gates=gates, links=links)
    with np.load(_FILE) as saved:
        return saved["gates"], saved["links"]


def raw_sentences() -> list[list[str]]:
    """Return the sentences of the raw text that have words."""
    return [words for words in raw_english() if words]
