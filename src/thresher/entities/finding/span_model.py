"""The probability of each span of a sentence, from the evidence of its words.

A sentence is a chain of words that are outside or inside a name. A name starts with probability
`start`, also directly after another name. A name that has reached a word continues to the next one
with the log-odds

    continuation + link · (log-odds of the link gate) + (evidence of their case)

and a word inside a name counts exp(scale · log-odds of its score + bias) times as much as outside.
The probability that the words s … e form a name is the total weight of the chains with this name
divided by the weight of all chains (forward and backward sums). It needs no cap and reaches 1.

The five parameters are fitted to raw text by maximum likelihood (training/span_likelihood.py).
Signals that share information make these probabilities too certain. The score of a span is
therefore sigmoid(CERTAINTY · log-odds + SCORE_BIAS), which keeps their order.

Words that can be inside a name but not at its edge are joining words ("of") and, at the start,
titles ("President"). A word with almost no evidence is outside, which splits a sentence into
short stretches whose sums are computed one by one.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.decoding import Candidate, best_threshold

MIN_EVIDENCE, MAX_EVIDENCE = -4.0, 12.0  # words below the minimum are outside of names
MIN_PROBABILITY = 0.02  # spans below are no candidates
CERTAINTY, SCORE_BIAS = 0.7, -0.6
_MAX_SPAN = 16  # words
_MAX_STRETCH = 64  # words; longer stretches are cut
_MAX_LINK = 6.0
_SCORE_FACTOR = math.exp(SCORE_BIAS)
_MAX_PARAMETER = 1000.0  # fitted parameters are below 10; with larger ones sums could overflow

Evidence = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class ChainInputs:
    """What the chain needs of each word of all sentences: (words,) each.

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

    def candidates(self, starts: Sequence[int], inputs: ChainInputs) -> Iterator[list[Candidate]]:
        """Return the candidates of each sentence: non-overlapping, from left to right.

        Of all ways to choose spans that do not overlap, the one with the largest sum of
        probabilities is chosen: it has the largest expected number of correct spans.

        starts: where the words of each sentence start, and the number of all words
        """
        evidence = np.clip(self.scale * inputs.log_odds + self.bias, -np.inf, MAX_EVIDENCE)
        inside = evidence >= MIN_EVIDENCE
        odds = np.where(inside, np.exp(evidence), 0.0)
        go_on = self.continuations(inputs)
        first, end, sentence = _stretches(inside, np.asarray(starts))
        alone = self._single_word_probabilities(odds, go_on, inputs, first).tolist()
        all_odds, all_go_on = odds.tolist(), go_on.tolist()
        can_start, can_end = inputs.can_start.tolist(), inputs.can_end.tolist()
        found: list[list[Candidate]] = [[] for _ in starts[1:]]
        for low, high, number, probability in zip(first, end, sentence, alone, strict=True):
            offset, own = low - starts[number], found[number]
            if high == low + 1:
                if probability >= MIN_PROBABILITY:
                    own.append(Candidate(offset, offset + 1, span_score(probability)))
                continue
            for part in range(low, high, _MAX_STRETCH):
                cut = slice(part, min(high, part + _MAX_STRETCH))
                chain = _Chain(
                    all_odds[cut], all_go_on[cut], can_start[cut], can_end[cut], self.start
                )
                shift = part - starts[number]
                own += [
                    Candidate(s + shift, e + shift, span_score(p)) for s, e, p in chain.best_spans()
                ]
        return iter(found)

    def _single_word_probabilities(
        self, odds: Evidence, go_on: Evidence, inputs: ChainInputs, first: Sequence[int]
    ) -> Evidence:
        """Return `_Chain.span_probabilities` of the words `first`, each as a chain by itself."""
        begin = self.start * inputs.can_start[first]
        stop = np.where(inputs.can_end[first], (1 - go_on[first]) * (1 - self.start), 0.0)
        own = odds[first]
        scores: Evidence = begin * own / ((1 - self.start) ** 2 + begin * own * stop) * stop
        return scores

    def continuations(self, inputs: ChainInputs) -> Evidence:
        """Return the probability that a name at each word continues to the next one: (words,)."""
        links = np.clip(inputs.links, -_MAX_LINK, _MAX_LINK)
        probability = 1 / (1 + np.exp(-(self.continuation + self.link * links + inputs.case_links)))
        probability = np.where(inputs.can_end, probability, 1.0)
        return np.where(np.isneginf(inputs.links), 0.0, probability)


def _stretches(inside: Flags, starts: NDArray[np.int64]) -> tuple[list[int], list[int], list[int]]:
    """Return the first word, the end and the sentence of each run of words that may be names.

    inside: (words,)   starts: (sentences + 1,), where the words of each sentence start
    """
    breaks = np.zeros(len(inside) + 1, dtype=np.bool_)
    breaks[starts] = True
    outside = ~inside
    first = np.flatnonzero(inside & (np.append(True, outside[:-1]) | breaks[:-1]))
    last = np.flatnonzero(inside & (np.append(outside[1:], True) | breaks[1:]))
    sentence = np.searchsorted(starts, first, side="right") - 1
    return first.tolist(), (last + 1).tolist(), sentence.tolist()


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


@dataclass(frozen=True, slots=True)
class _Chain:
    """A stretch of words between words that are outside of names.

    odds: the weight of each word inside a name   go_on: P(the name continues to the next word)
    """

    odds: list[float]
    go_on: list[float]
    can_start: list[bool]
    can_end: list[bool]
    start: float

    def best_spans(self) -> list[tuple[int, int, float]]:
        """Return the non-overlapping spans (start, end, probability) with the largest sum."""
        size = len(self.odds)
        spans = self.span_probabilities()
        starts: list[list[int]] = [[] for _ in range(size + 1)]
        for start, end in spans:
            starts[end].append(start)
        best, chosen = [0.0] * (size + 1), [-1] * (size + 1)
        for end in range(1, size + 1):
            best[end] = best[end - 1]
            for start in starts[end]:
                value = best[start] + spans[start, end]
                if value > best[end]:
                    best[end], chosen[end] = value, start
        found, end = [], size
        while end > 0:
            if chosen[end] < 0:
                end -= 1
            else:
                start = chosen[end]
                found.append((start, end, min(1.0, spans[start, end])))
                end = start
        return found[::-1]

    def span_probabilities(self) -> dict[tuple[int, int], float]:
        """Return P(words start … end − 1 are one name) of spans that are not very improbable."""
        before, total = self._forward()
        after = self._backward()
        found = {}
        for start, begin in enumerate(before):
            weight = begin * self.odds[start] / total
            for end in range(start + 1, min(start + _MAX_SPAN, len(self.odds)) + 1):
                probability = weight * after[end - 1]
                if probability >= MIN_PROBABILITY:
                    found[start, end] = probability
                if end < len(self.odds):
                    weight *= self.go_on[end - 1] * self.odds[end]
                if not weight:
                    break
        return found

    def _forward(self) -> tuple[list[float], float]:
        """Return the weight of starting a name at each word, and that of all chains."""
        outside, inside, go_on = 1.0, 0.0, 0.0
        before = []
        for odds, can_start, next_go_on in zip(self.odds, self.can_start, self.go_on, strict=True):
            free = outside + inside * (1 - go_on)  # of not continuing a name
            begin = free * self.start * can_start
            before.append(begin)
            inside = (begin + inside * go_on) * odds
            outside, go_on = free * (1 - self.start), next_go_on
        return before, outside * (1 - self.start) + inside * self._stop_at_the_end()

    def _stop_at_the_end(self) -> float:
        """Return the weight of ending a name with the last word: the next word is outside."""
        return (1 - self.go_on[-1]) * (1 - self.start) if self.can_end[-1] else 0.0

    def _backward(self) -> list[float]:
        """Return for each word the weight of all that follows a name that ends with it."""
        after_outside, after_inside = 1 - self.start, self._stop_at_the_end()
        after = [after_inside]
        for i in range(len(self.odds) - 2, -1, -1):
            begin = self.start * self.can_start[i + 1] * self.odds[i + 1] * after_inside
            free = (1 - self.start) * after_outside + begin
            after.append((1 - self.go_on[i]) * free)
            after_inside = after[-1] + self.go_on[i] * self.odds[i + 1] * after_inside
            after_outside = free
        return after[::-1]
