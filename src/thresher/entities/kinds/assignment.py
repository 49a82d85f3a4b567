"""Give candidates their kinds; occurrences of the same name in a text share their evidence."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.signal_weights import Scores
from thresher.entities.kinds.classifier import (
    MIN_KIND_SCORE,
    KindClassifier,
    LogProbabilities,
    log_softmax,
)
from thresher.entities.kinds.span_vectors import Vectors, span_bounds, span_means, span_vectors

_MIN_GATE = 1e-3  # a closed gate is not certain
_OF_GATES = 0.35  # of the evidence comes from kind gates, the rest from the classifier
_SHARED = 0.5  # of the evidence comes from all occurrences of a name in the text

Sentences = Sequence[Sequence[str]]


def surface_forms(texts: Sequence[Sequence[Sequence[str]]]) -> NDArray[np.int64]:
    """Number the different names of each text, without their case.

    texts: for each text its names, split into words   returns: (names of all texts,)
    """
    numbers: dict[tuple[int, str], int] = {}
    return np.array(
        [
            numbers.setdefault((text, " ".join(words).casefold()), len(numbers))
            for text, names in enumerate(texts)
            for words in names
        ],
        dtype=np.int64,
    )


def share_between_occurrences(
    log_probabilities: LogProbabilities, forms: NDArray[np.int64]
) -> LogProbabilities:
    """Average the log-probabilities of each span with the mean of all spans of the same form.

    log_probabilities: (spans, kinds)   forms: (spans,), the number of each span's surface form
    """
    if not len(forms):
        return log_probabilities
    counts = np.bincount(forms).astype(np.float32)
    sums = np.zeros((len(counts), log_probabilities.shape[1]), dtype=np.float32)
    np.add.at(sums, forms, log_probabilities)
    means = (sums / counts[:, None])[forms]
    return log_softmax((1 - _SHARED) * log_probabilities + _SHARED * means)


@dataclass(frozen=True)
class EncodedWords:
    """What is known of the words of some sentences.

    gate_scores: (words,), P(open)   vectors: (words, width)
    kind_scores: (words, kinds), P(open) of the kind gates; None if there are none
    links: (words,), log-odds of the link gate; None if there is none
    """

    gate_scores: Scores
    vectors: Vectors
    kind_scores: Vectors | None = None
    links: Scores | None = None

    @classmethod
    def joined(cls, parts: "Sequence[EncodedWords]") -> "EncodedWords":
        """Return the words of successive sentences together.

        parts: at least one, all from the same model
        """

        def both(values: Sequence[Vectors | None]) -> Vectors | None:
            given = [each for each in values if each is not None]
            return np.concatenate(given) if given else None

        return cls(
            np.concatenate([each.gate_scores for each in parts]),
            np.concatenate([each.vectors for each in parts]),
            both([each.kind_scores for each in parts]),
            both([each.links for each in parts]),
        )


def finding_scores(kind_scores: Vectors, finding: Sequence[bool] | None) -> Scores | None:
    """Return the largest P(open) of the kind gates that find entities; None if none of them does.

    kind_scores: (words, kinds)   finding: for each kind; None if all gates find   returns: (words,)
    """
    found = kind_scores if finding is None else kind_scores[:, list(finding)]
    largest: Scores | None = found.max(axis=1) if found.shape[1] else None
    return largest


@dataclass(frozen=True)
class KindAssigner:
    """Gives candidates the kinds that a classifier predicts."""

    classifier: KindClassifier

    def assign(
        self,
        texts: Sequence[Sentences],
        candidates: Sequence[Sequence[Candidate]],
        encoded: EncodedWords,
    ) -> list[list[Candidate]]:
        """Return the candidates of each sentence with their kinds.

        texts: of sentences   candidates: for each sentence of all texts
        """
        if not any(candidates):
            return [list(each) for each in candidates]
        names = _names(texts, candidates)
        bounds = span_bounds([words for text in texts for words in text], candidates)
        vectors = span_vectors(encoded.vectors, *bounds)
        log_probabilities = self.classifier.log_probabilities(vectors)
        if encoded.kind_scores is not None:
            of_gates = _gate_evidence(encoded.kind_scores, bounds, log_probabilities.shape[1])
            log_probabilities = (1 - _OF_GATES) * log_probabilities + _OF_GATES * of_gates
        shared = np.exp(share_between_occurrences(log_probabilities, surface_forms(names)))
        scores = iter(zip(shared.argmax(axis=1).tolist(), shared.max(axis=1).tolist(), strict=True))
        return [[self._with_kind(each, *next(scores)) for each in found] for found in candidates]

    def _with_kind(self, candidate: Candidate, kind: int, score: float) -> Candidate:
        if score < MIN_KIND_SCORE or kind >= len(self.classifier.kinds):
            return candidate
        start, end, own_score = candidate.start, candidate.end, candidate.score
        # `dataclasses.replace` would take longer than everything else here.
        return Candidate(start, end, own_score, self.classifier.kinds[kind], min(score, 1.0))


def _gate_evidence(
    kind_scores: Vectors, bounds: tuple[NDArray[np.int64], NDArray[np.int64]], rows: int
) -> LogProbabilities:
    """Return log-probabilities of kinds from their gates: (spans, rows).

    The probability that no gate is open is shared by the background kinds.
    """
    background = rows - kind_scores.shape[1]
    closed = (1 - kind_scores.max(axis=1, keepdims=True)) / max(background, 1)
    columns = [kind_scores, *[closed] * background]
    log_scores = np.log(np.maximum(np.hstack(columns), np.float32(_MIN_GATE)))
    return log_softmax(span_means(log_scores, *bounds))


def _names(
    texts: Sequence[Sentences], candidates: Sequence[Sequence[Candidate]]
) -> list[list[Sequence[str]]]:
    """Return the words of the candidates of each text."""
    remaining = iter(candidates)
    return [
        [words[each.start : each.end] for words in text for each in next(remaining)]
        for text in texts
    ]
