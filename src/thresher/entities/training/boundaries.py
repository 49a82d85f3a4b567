"""Fit what decides where names start and end: the link gate and the span model."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from thresher.entities.finding.link_gate import LinkGate, link_log_odds
from thresher.entities.finding.signal_weights import Scores
from thresher.entities.finding.word_decoding import Links
from thresher.entities.selectors import CalibratedSelector
from thresher.entities.training.link_training import fit_link_gate, link_targets
from thresher.entities.training.loop import TrainingCorpus
from thresher.entities.training.raw_text import MIN_WORDS_FOR_BOUNDARIES, RawText
from thresher.entities.training.span_likelihood import fit_span_model
from thresher.gates.selector import Selector

_ROWS_PER_PART = 65_536


@dataclass(frozen=True)
class BoundaryModels:
    """A link gate with its log-odds on the raw text, if the text is large enough for both.

    links: (words,)
    """

    enough_text: bool
    link_gate: LinkGate | None = None
    links: Links | None = None

    @classmethod
    def fit(
        cls, raw: RawText, corpus: TrainingCorpus, *, seed: int, device: torch.device
    ) -> "BoundaryModels":
        """Train the link gate on raw text, unless gates are per subword or there is little text."""
        has_case = bool((raw.prior == 1).any())
        if corpus.units.words < MIN_WORDS_FOR_BOUNDARIES or not has_case:
            return cls(enough_text=False)
        if len(corpus.units.word) != corpus.units.words:  # subwords
            return cls(enough_text=True)
        gate = fit_link_gate(corpus.vectors, link_targets(raw), seed=seed, device=device)
        if gate is None:
            return cls(enough_text=False)
        return cls(True, gate, links_of(gate, corpus.vectors, device))

    def calibrated(self, selector: Selector, gates: Scores, raw: RawText) -> CalibratedSelector:
        """Return the selector with its signal weights, span model and threshold."""
        calibrate = partial(
            CalibratedSelector.calibrate,
            selector,
            gates,
            raw.sentences,
            raw.signals,
            not_names=raw.not_names,
        )
        if not self.enough_text:
            return calibrate()
        return calibrate(span_model=fit_span_model(raw, gates, self.links), links=self.links)


def links_of(gate: LinkGate, vectors: NDArray[np.float16], device: torch.device) -> Links:
    """Return the log-odds for every word and the next one: (words,).

    vectors: (words, width), may be a memory-mapped array
    """
    parts = []
    for low in range(0, len(vectors), _ROWS_PER_PART):
        rows = np.asarray(vectors[low : low + _ROWS_PER_PART + 1], dtype=np.float32)
        part = link_log_odds(gate, torch.from_numpy(rows).to(device)).cpu().numpy()
        parts.append(part[:_ROWS_PER_PART])
    return np.concatenate([np.zeros(0, np.float32), *parts])
