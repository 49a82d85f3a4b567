"""Trained selectors with their signal weights, span models and thresholds."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from thresher.entities.finding.signal_weights import Scores, SignalWeights
from thresher.entities.finding.signals import WordSignals
from thresher.entities.finding.span_model import SpanModel
from thresher.entities.finding.word_decoding import Links, WordDecoder
from thresher.gates.selector import Selector


@dataclass(frozen=True)
class CalibratedSelector:
    """A selector, the weights of the word signals besides its gates, and a threshold.

    span_model: the probabilities of spans; None to decode runs of words
    dates: words of dates, if this selector finds dates and the first one of its model does not
    """

    selector: Selector
    signal_weights: SignalWeights
    threshold: float
    span_model: SpanModel | None = None
    dates: frozenset[str] | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"`threshold` must be between 0 and 1, got {self.threshold}")

    @classmethod
    def calibrate(
        cls,
        selector: Selector,
        gate_scores: Scores,
        sentences: Sequence[Sequence[str]],
        signals: WordSignals,
        *,
        not_names: Set[str],
        span_model: SpanModel | None = None,
        links: Links | None = None,
    ) -> "CalibratedSelector":
        """Estimate the signal weights and the threshold from the gates on raw text.

        gate_scores: (words,), P(open) of every word   signals: the other word signals
        links: (words,), of the link gate, if there is one
        """
        weights = SignalWeights.estimate(gate_scores, signals, with_spans=span_model is not None)
        decoder = WordDecoder(weights, not_names, span_model)
        span_scores = [
            candidate.score
            for candidates in decoder.candidates(sentences, gate_scores, signals, links)
            for candidate in candidates
        ]
        return cls(selector, weights, decoder.best_threshold(span_scores), span_model)
