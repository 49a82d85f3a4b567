"""Compute word scores and candidate spans from gates and signals, with or without a span model."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.candidate_arrays import CandidateArrays
from thresher.entities.finding.decoding import (
    MIN_WORD_SCORE,
    Candidate,
    best_threshold,
    decode,
)
from thresher.entities.finding.evidence import chain_inputs
from thresher.entities.finding.own_articles import with_own_articles
from thresher.entities.finding.signal_weights import Scores, SignalWeights, gate_log_odds
from thresher.entities.finding.signals import WordSignals
from thresher.entities.finding.span_model import SpanModel, best_span_threshold
from thresher.text.indexed_sentences import IndexedSentences

Links = NDArray[np.float32]


@dataclass(frozen=True)
class WordDecoder:
    """Combines gates with the other signals of words, and finds candidate spans.

    span_model: the probabilities of spans; None to decode runs of words as version 0.2 did
    min_word_score: of a word that joins a run, without a span model
    """

    weights: SignalWeights
    not_names: Set[str]
    span_model: SpanModel | None = None
    min_word_score: float = MIN_WORD_SCORE

    def best_threshold(self, scores: Sequence[float]) -> float:
        """Return the threshold with the largest expected F1, from the scores of candidates."""
        return best_threshold(scores) if self.span_model is None else best_span_threshold(scores)

    def word_scores(
        self, gate_scores: Scores, signals: WordSignals, least: Scores | None = None
    ) -> Scores:
        """Return the probability that each word is part of an entity: (words,).

        least: (words,), the smallest score of a possible word, from the gates of kinds
        """
        scores = self.weights.combine(gate_scores, signals)
        if least is None:
            return scores
        return np.maximum(scores, np.where(signals.possible, least, 0.0).astype(np.float32))

    def candidates(
        self,
        sentences: Sequence[Sequence[str]],
        gate_scores: Scores,
        signals: WordSignals,
        links: Links | None = None,
        least: Scores | None = None,
    ) -> list[list[Candidate]]:
        """Return the candidates of each sentence.

        gate_scores: (words,), P(open)   links: (words,), of the link gate, if there is one
        least: as in `word_scores`
        """
        indexed = IndexedSentences.from_sentences(sentences)
        found = self.candidate_arrays(indexed, gate_scores, signals, links, least)
        return found.by_sentence(indexed)

    def candidate_arrays(
        self,
        sentences: IndexedSentences,
        gate_scores: Scores,
        signals: WordSignals,
        links: Links | None = None,
        least: Scores | None = None,
    ) -> CandidateArrays:
        """Return `candidates` as arrays."""
        if self.span_model is None:
            scores = self.word_scores(gate_scores, signals, least)
            found = decode(
                sentences, scores, not_names=self.not_names, min_word_score=self.min_word_score
            )
            return CandidateArrays.of(sentences, list(found))
        log_odds = self.weights.log_odds(gate_scores, signals).astype(np.float64)
        if least is not None:
            log_odds = np.maximum(log_odds, gate_log_odds(least))
        inputs = chain_inputs(sentences, log_odds, links, signals, self.not_names)
        return with_own_articles(sentences, self.span_model.candidates(sentences, inputs))
