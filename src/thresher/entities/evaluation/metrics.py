"""Metrics that compare word scores and candidate spans with gold spans.

Gold spans are given per sentence, as (start, end) pairs of word indices, end exclusive. A ratio
whose denominator is 0 (no gold span, no prediction, no word) is 0.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.signal_weights import Scores

Bounds = tuple[int, int]
GoldSpans = Sequence[Sequence[Bounds]]
FoundSpans = Sequence[Sequence[Candidate]]


@dataclass(frozen=True)
class Counts:
    """The numbers of predicted items, of gold items, and of items that are both."""

    correct: int
    predicted: int
    gold: int

    @property
    def precision(self) -> float:
        """correct / predicted."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """correct / gold."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall: 2 correct / (predicted + gold)."""
        total = self.predicted + self.gold
        return 2 * self.correct / total if total else 0.0

    def as_json(self) -> dict[str, float]:
        """Return precision, recall, F1 and the counts as values that JSON can hold."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1, **asdict(self)}


@dataclass(frozen=True)
class Bin:
    """The candidates whose scores lie in one interval.

    accuracy: the fraction of them that are gold spans; 0 in an empty bin, like `mean_score`
    """

    low: float
    high: float
    count: int
    mean_score: float
    accuracy: float


@dataclass(frozen=True)
class Calibration:
    """Candidates binned by score, to check whether scores are probabilities.

    If they are, seven in ten of the candidates that score 0.7 are gold spans.
    """

    bins: tuple[Bin, ...]

    @property
    def error(self) -> float:
        """The expected calibration error: Σ count · |accuracy − mean score| / Σ count."""
        total = sum(each.count for each in self.bins)
        gaps = (each.count * abs(each.accuracy - each.mean_score) for each in self.bins)
        return sum(gaps) / total if total else 0.0


def word_average_precision(gold: GoldSpans, scores: Sequence[Scores]) -> float:
    """Return the average precision of word scores: Σ ΔR · P as the threshold falls.

    Words with equal scores count as one step, so their order does not matter. A word is gold if
    it lies in a gold span.

    scores: for each sentence (words,)
    """
    labels, flat = _labels(gold, scores), _flat(scores)
    if not labels.any():
        return 0.0
    order = np.argsort(-flat, kind="stable")
    last_of_ties = np.append(np.flatnonzero(np.diff(flat[order])), len(flat) - 1)
    correct = np.cumsum(labels[order])[last_of_ties]
    precision = correct / (last_of_ties + 1)
    return float(np.diff(correct, prepend=0) @ precision / correct[-1])


def word_counts(gold: GoldSpans, scores: Sequence[Scores], *, threshold: float = 0.5) -> Counts:
    """Compare the words that score at least the threshold with the words of gold spans."""
    labels, selected = _labels(gold, scores), _flat(scores) >= threshold
    return Counts(
        correct=int((labels & selected).sum()),
        predicted=int(selected.sum()),
        gold=int(labels.sum()),
    )


def span_counts(gold: GoldSpans, found: FoundSpans, *, threshold: float = 0.0) -> Counts:
    """Compare the candidates that score at least the threshold with gold spans, exactly."""
    correct = predicted = total = 0
    for spans, candidates in _sentences(gold, found):
        kept = {(each.start, each.end) for each in candidates if each.score >= threshold}
        correct += len(kept & spans)
        predicted += len(kept)
        total += len(spans)
    return Counts(correct=correct, predicted=predicted, gold=total)


def calibration(gold: GoldSpans, found: FoundSpans, *, bins: int = 10) -> Calibration:
    """Bin candidates by score and compute the fraction of each bin that are gold spans.

    Bin k of n holds the scores in [k/n, (k + 1)/n); the last one also holds 1.
    """
    if bins < 1:
        raise ValueError(f"`bins` must be at least 1, got {bins}")
    pairs = [
        (each.score, (each.start, each.end) in spans)
        for spans, candidates in _sentences(gold, found)
        for each in candidates
    ]
    scores = np.array([score for score, _ in pairs], dtype=np.float64)
    outside = ~((scores >= 0) & (scores <= 1))
    if outside.any():
        raise ValueError(f"scores must be between 0 and 1, got {scores[outside][0]}")
    right = np.array([is_gold for _, is_gold in pairs], dtype=np.float64)
    which = np.minimum((scores * bins).astype(np.int64), bins - 1)
    count = np.bincount(which, minlength=bins)
    mean_score = np.bincount(which, weights=scores, minlength=bins) / np.maximum(count, 1)
    accuracy = np.bincount(which, weights=right, minlength=bins) / np.maximum(count, 1)
    return Calibration(
        tuple(
            Bin(k / bins, (k + 1) / bins, int(count[k]), float(mean_score[k]), float(accuracy[k]))
            for k in range(bins)
        )
    )


def _labels(gold: GoldSpans, scores: Sequence[Scores]) -> NDArray[np.bool_]:
    """Return for each word of all sentences whether it lies in a gold span: (words,)."""
    _check_lengths(gold, scores)
    labels = [np.zeros(len(each), dtype=np.bool_) for each in scores]
    for number, spans in enumerate(gold):
        for start, end in spans:
            if not 0 <= start < end <= len(labels[number]):
                raise ValueError(
                    f"a gold span must have 0 <= start < end <= {len(labels[number])}, the number "
                    f"of words of its sentence; sentence {number} has ({start}, {end})"
                )
            labels[number][start:end] = True
    return np.concatenate([np.zeros(0, dtype=np.bool_), *labels])


def _flat(scores: Sequence[Scores]) -> NDArray[np.float64]:
    flat = np.concatenate([np.zeros(0), *scores])
    if np.isnan(flat).any():
        raise ValueError("scores must not be NaN")
    return flat


def _sentences(
    gold: GoldSpans, found: FoundSpans
) -> Iterator[tuple[set[Bounds], Sequence[Candidate]]]:
    """Yield the gold spans and candidates of each sentence."""
    _check_lengths(gold, found)
    for spans, candidates in zip(gold, found, strict=True):
        yield set(spans), candidates


def _check_lengths(gold: GoldSpans, predicted: Sequence[object]) -> None:
    if len(gold) != len(predicted):
        raise ValueError(
            f"gold spans are given for {len(gold)} sentences, predictions for {len(predicted)}"
        )
