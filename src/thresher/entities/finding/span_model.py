"""The probability of each span of a sentence, from the evidence of its words.

A sentence is a chain of words that are outside or inside a name. A name starts with probability
`start`, also directly after another name. A name that has reached a word continues to the next one
with the log-odds

    continuation + link · (log-odds of the link gate) + (evidence of their case)

and a word inside a name counts exp(scale · log-odds of its score + bias) times as much as outside.
The probability that the words s … e form a name is the total weight of the chains with this name
divided by the weight of all chains (forward and backward sums). It can be any number up to 1,
unlike the scores of `decoding.py`, which are at most MAX_SPAN_SCORE.

The five parameters are fitted to raw text by maximum likelihood (training/span_likelihood.py).
Signals that share information make these probabilities too certain. The score of a span is
therefore sigmoid(CERTAINTY · log-odds + SCORE_BIAS), which keeps their order.

Words that can be inside a name but not at its edge are joining words ("of") and, at the start,
titles ("President"). A word with almost no evidence is outside, which splits a sentence into
short stretches, whose sums are computed side by side (chain_sums.py).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.candidate_arrays import CandidateArrays
from thresher.entities.finding.chain_sums import (
    ChainWeights,
    Flags,
    Indices,
    best_spans,
    span_probabilities,
)
from thresher.entities.finding.decoding import best_threshold
from thresher.text.indexed_sentences import IndexedSentences

MIN_EVIDENCE, MAX_EVIDENCE = -4.0, 12.0  # words below the minimum are outside of names
MIN_PROBABILITY = 0.02  # spans below are no candidates
CERTAINTY, SCORE_BIAS = 0.7, -0.6
_MAX_STRETCH = 64  # words; longer stretches are cut
_MAX_LINK = 6.0
_SCORE_FACTOR = math.exp(SCORE_BIAS)
_MAX_PARAMETER = 1000.0  # fitted parameters are below 10; with larger ones sums could overflow

Evidence = NDArray[np.float64]


@dataclass(frozen=True)
class ChainInputs:
    """The inputs of the chain for each word of all sentences: (words,) each.

    log_odds: of being part of a name; −inf for words that cannot be
    links: log-odds of the link gate for a word and the next one; −inf at sentence ends
    case_links: evidence of the case of both words that they belong to the same name
    can_start, can_end: whether a name can start or end with the word
    """

    log_odds: Evidence
    links: Evidence
    case_links: Evidence
    can_start: Flags
    can_end: Flags


@dataclass(frozen=True)
class SpanModel:
    """The parameters of the chain; `start` is a probability, the others are in log-odds."""

    scale: float = 1.0
    bias: float = 2.2
    start: float = 0.04
    continuation: float = -0.6
    link: float = 0.3

    def __post_init__(self) -> None:
        values = (self.scale, self.bias, self.continuation, self.link)
        valid = all(abs(value) <= _MAX_PARAMETER for value in values)  # False for NaN
        if not valid or self.scale <= 0 or not 0 < self.start < 1:
            raise ValueError(
                f"the span model needs scale > 0, 0 < start < 1 and parameters of at most "
                f"{_MAX_PARAMETER:.0f}: {self}"
            )

    def candidates(self, sentences: IndexedSentences, inputs: ChainInputs) -> CandidateArrays:
        """Return the candidates of all sentences: non-overlapping, in order.

        Of all ways to choose spans that do not overlap, the one with the largest sum of
        probabilities is chosen: it has the largest expected number of correct spans.
        """
        evidence = np.clip(self.scale * inputs.log_odds + self.bias, -np.inf, MAX_EVIDENCE)
        inside = evidence >= MIN_EVIDENCE
        odds = np.where(inside, np.exp(evidence), 0.0)
        weights = ChainWeights.of(
            self.start, odds, self.continuations(inputs), inputs.can_start, inputs.can_end
        )
        first, end = _stretches(inside, sentences.starts)
        spans = span_probabilities(first, end, weights, at_least=MIN_PROBABILITY)
        starts, ends, probabilities = best_spans(*spans)
        scores = np.array(list(map(span_score, probabilities.tolist())), dtype=np.float64)
        return CandidateArrays.from_spans(sentences, starts, ends, scores)

    def continuations(self, inputs: ChainInputs) -> Evidence:
        """Return the probability that a name at each word continues to the next one: (words,)."""
        links = np.clip(inputs.links, -_MAX_LINK, _MAX_LINK)
        probability = 1 / (1 + np.exp(-(self.continuation + self.link * links + inputs.case_links)))
        probability = np.where(inputs.can_end, probability, 1.0)
        return np.where(np.isneginf(inputs.links), 0.0, probability)


def _stretches(inside: Flags, starts: Indices) -> tuple[Indices, Indices]:
    """Return the first word and the end of each run of words that may be names.

    inside: (words,)   starts: (sentences + 1,), where the words of each sentence start
    """
    breaks = np.zeros(len(inside) + 1, dtype=np.bool_)
    breaks[starts] = True
    outside = ~inside
    first = np.flatnonzero(inside & (np.append(True, outside[:-1]) | breaks[:-1]))
    end = np.flatnonzero(inside & (np.append(outside[1:], True) | breaks[1:])) + 1
    parts = (end - first - 1) // _MAX_STRETCH + 1
    number = np.arange(parts.sum()) - np.repeat(np.cumsum(parts) - parts, parts)
    first = np.repeat(first, parts) + number * _MAX_STRETCH
    return first, np.minimum(np.repeat(end, parts), first + _MAX_STRETCH)


def span_score(probability: float) -> float:
    """Return the score of a span with this probability under the model."""
    if probability >= 1:
        return 1.0
    odds: float = (probability / (1 - probability)) ** CERTAINTY * _SCORE_FACTOR
    return odds / (1 + odds)


def span_probability(score: float) -> float:
    """Return the probability that has this score: the inverse of `span_score`."""
    if score >= 1:
        return 1.0
    odds: float = (score / (1 - score) / _SCORE_FACTOR) ** (1 / CERTAINTY)
    return odds / (1 + odds)


def best_span_threshold(scores: Sequence[float]) -> float:
    """Return the score threshold with the largest expected F1 under the span model."""
    return span_score(best_threshold([span_probability(score) for score in scores]))
