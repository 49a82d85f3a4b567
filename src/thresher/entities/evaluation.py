"""How well words and spans are found, against gold spans: pure functions of both.

Gold is given per sentence, as (start, end) pairs of word numbers, end exclusive. Where a share
has nothing to be a share of (no gold, no prediction, no word), it is 0.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.signal_weights import Scores

Bounds = tuple[int, int]
Gold = Sequence[Sequence[Bounds]]


@dataclass(frozen=True)
class Counts:
    """How many were predicted, how many there are, and how many of them are the same."""

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
        either = self.predicted + self.gold
        return 2 * self.correct / either if either else 0.0


@dataclass(frozen=True)
class Bin:
    """The candidates whose scores lie in one interval.

    accuracy: the share of them that are gold spans; with `mean_score` 0 in an empty bin
    """

    low: float
    high: float
    count: int
    mean_score: float
    accuracy: float


@dataclass(frozen=True)
class Calibration:
    """Whether scores are probabilities: of the candidates scored .7, seven in ten are right."""

    bins: tuple[Bin, ...]

    @property
    def error(self) -> float:
        """The expected calibration error: Σ count · |accuracy − mean score| / Σ count."""
        total = sum(each.count for each in self.bins)
        gaps = (each.count * abs(each.accuracy - each.mean_score) for each in self.bins)
        return sum(gaps) / total if total else 0.0


def word_average_precision(gold: Gold, scores: Sequence[Scores]) -> float:
    """The area under the steps of precision over recall, as the threshold falls: Σ ΔR · P.

    Words of equal score are taken together, so their order does not matter. A word is gold if it
    lies in a gold span.

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


def word_counts(gold: Gold, scores: Sequence[Scores], *, threshold: float = 0.5) -> Counts:
    """Words that score at least the threshold, against words that lie in a gold span."""
    labels, selected = _labels(gold, scores), _flat(scores) >= threshold
    return Counts(
        correct=int((labels & selected).sum()),
        predicted=int(selected.sum()),
        gold=int(labels.sum()),
    )


def span_counts(
    gold: Gold, found: Sequence[Sequence[Candidate]], *, threshold: float = 0.0
) -> Counts:
    """Candidates that score at least the threshold, against gold spans; right if exactly equal."""
    correct = predicted = total = 0
    for spans, candidates in _sentences(gold, found):
        kept = {(each.start, each.end) for each in candidates if each.score >= threshold}
        correct += len(kept & spans)
        predicted += len(kept)
        total += len(spans)
    return Counts(correct=correct, predicted=predicted, gold=total)


def calibration(gold: Gold, found: Sequence[Sequence[Candidate]], *, bins: int = 10) -> Calibration:
    """Candidates by score, in bins of equal width, with the share that are exactly gold spans.

    Bin k of n holds the scores in [k/n, (k + 1)/n); the last one also holds 1.
    """
    if bins < 1:
        raise ValueError(f"there must be at least 1 bin; got {bins}")
    pairs = [
        (each.score, (each.start, each.end) in spans)
        for spans, candidates in _sentences(gold, found)
        for each in candidates
    ]
    scores = np.array([score for score, _ in pairs], dtype=np.float64)
    outside = ~((scores >= 0) & (scores <= 1))
    if outside.any():
        raise ValueError(f"scores must lie in [0, 1]; got {scores[outside][0]}")
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


def _labels(gold: Gold, scores: Sequence[Scores]) -> NDArray[np.bool_]:
    """Whether each word of the sentences in turn lies in a gold span: (words,)."""
    _check_lengths(gold, scores)
    labels = [np.zeros(len(each), dtype=np.bool_) for each in scores]
    for number, spans in enumerate(gold):
        for start, end in spans:
            if not 0 <= start < end <= len(labels[number]):
                raise ValueError(
                    f"a gold span must have 0 <= start < end <= {len(labels[number])}, "
                    f"the words of its sentence; sentence {number} has ({start}, {end})"
                )
            labels[number][start:end] = True
    return np.concatenate([np.zeros(0, dtype=np.bool_), *labels])


def _flat(scores: Sequence[Scores]) -> NDArray[np.float64]:
    flat = np.concatenate([np.zeros(0), *scores])
    if np.isnan(flat).any():
        raise ValueError("scores must be numbers; got NaN")
    return flat


def _sentences(
    gold: Gold, found: Sequence[Sequence[Candidate]]
) -> Iterator[tuple[set[Bounds], Sequence[Candidate]]]:
    """Gold spans and candidates, sentence by sentence."""
    _check_lengths(gold, found)
    for spans, candidates in zip(gold, found, strict=True):
        yield set(spans), candidates


def _check_lengths(gold: Gold, predicted: Sequence[object]) -> None:
    if len(gold) != len(predicted):
        raise ValueError(
            f"gold and predictions must be of the same sentences: {len(gold)} and {len(predicted)}"
        )
