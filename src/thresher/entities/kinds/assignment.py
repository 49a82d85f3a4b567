"""Give candidates their kinds; mentions of the same entity in a text share their evidence."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.candidate_arrays import CandidateArrays, Indices, Name
from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.signal_weights import Scores
from thresher.entities.kinds.classifier import KindClassifier, LogProbabilities, log_softmax
from thresher.entities.kinds.shared_evidence import Mentions
from thresher.entities.kinds.span_vectors import Vectors, span_means, span_vectors
from thresher.entities.priors.dates import is_date
from thresher.entities.priors.word_lists import ARTICLES
from thresher.text.indexed_sentences import IndexedSentences

_MIN_GATE = 1e-3  # a closed gate is not certain
_GATE_SHARE = 0.2  # the weight of the evidence of kind gates; the rest is that of the classifier
_LISTED_LOG_ODDS = 4.0  # added for a name that is listed as an example of a kind
_NEEDS_ARTICLE = -2  # instead of the number of a kind
# A span gets a kind if it is an entity of this kind with at least this probability: about half of a
# usual typed F1, which is the threshold of the largest expected F1; see `best_threshold`.
_MIN_JOINT_SCORE = 0.22
_ALWAYS_A_KIND, _NEVER_A_KIND = 0.8, 0.3  # kind scores that decide, whatever the score of the span


@dataclass(frozen=True)
class EncodedWords:
    """The gates and the vectors of the words of some sentences.

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

        def joined(values: Sequence[Vectors | None]) -> Vectors | None:
            given = [each for each in values if each is not None]
            return np.concatenate(given) if given else None

        return cls(
            np.concatenate([each.gate_scores for each in parts]),
            np.concatenate([each.vectors for each in parts]),
            joined([each.kind_scores for each in parts]),
            joined([each.links for each in parts]),
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
    """Gives candidates the kinds that a classifier predicts.

    listed: the names that are examples of kinds, each with the number of its kind
    """

    classifier: KindClassifier
    listed: Mapping[Name, int] = field(default_factory=dict)

    def assign(
        self,
        sentences: IndexedSentences,
        found: CandidateArrays,
        mentions: Mentions,
        encoded: EncodedWords,
        dates: Set[str] | None = None,
    ) -> list[list[Candidate]]:
        """Return the candidates of each sentence with their kinds.

        Dates have no kind, unless most examples of a kind are dates.

        mentions: the candidates, grouped by their names
        dates: words of dates, case-folded, if dates are entities
        """
        if not len(found.starts):
            return [[] for _ in range(len(sentences))]
        bounds = found.starts, found.ends
        vectors = span_vectors(encoded.vectors, *bounds)
        log_probabilities = self.classifier.log_probabilities(vectors)
        if encoded.kind_scores is not None:
            of_gates = _gate_evidence(encoded.kind_scores, bounds, log_probabilities.shape[1])
            log_probabilities = (1 - _GATE_SHARE) * log_probabilities + _GATE_SHARE * of_gates
        listed = self._listed_kinds(sentences, found, mentions.words)
        log_probabilities = _with_listed_kinds(log_probabilities, listed)
        shared = np.exp(mentions.share(log_probabilities))
        scores = shared.max(axis=1)
        if dates is not None:
            of_dates = [is_date(name, dates) for name in mentions.words]
            if any(of_dates) and not self._has_kind_of_dates(dates):
                scores[of_dates] = 0.0
        return self._with_kinds(sentences, found, shared.argmax(axis=1), scores)

    @cached_property
    def _kinds_of_names(self) -> Mapping[Name, int]:
        """`listed`, and `_NEEDS_ARTICLE` for listed names without their article."""
        after_articles = (name[1:] for name in self.listed if name[0] in ARTICLES and name[1:])
        return {**dict.fromkeys(after_articles, _NEEDS_ARTICLE), **self.listed}

    def _listed_kinds(
        self, sentences: IndexedSentences, found: CandidateArrays, names: Sequence[Name]
    ) -> Indices:
        """Return for each span the number of the kind of which it is an example, or −1.

        Finding often leaves out articles, so the one before a span is taken into account.
        """
        kind_of = self._kinds_of_names.get
        kinds = np.array([kind_of(each, -1) for each in names], np.int64)
        undecided = kinds == _NEEDS_ARTICLE
        kinds[undecided] = -1
        has_word_before = found.starts > sentences.starts[found.sentence]
        for span in np.flatnonzero(undecided & has_word_before).tolist():
            before = sentences.vocabulary[sentences.word_ids[found.starts[span] - 1]]
            kinds[span] = self.listed.get((before.casefold(), *names[span]), -1)
        return kinds

    def _has_kind_of_dates(self, dates: Set[str]) -> bool:
        """Return True if most example names of a kind are dates; some songs have such names, too.

        dates: words of dates, case-folded
        """
        names = Counter(self.listed.values())
        of_dates = Counter(kind for name, kind in self.listed.items() if is_date(name, dates))
        return any(2 * count > names[kind] for kind, count in of_dates.items())

    def _with_kinds(
        self,
        sentences: IndexedSentences,
        found: CandidateArrays,
        kinds: Indices,
        scores: NDArray[np.float32],
    ) -> list[list[Candidate]]:
        """Return the candidates of each sentence with their kinds.

        kinds: (candidates,), the best kind or background kind of each   scores: (candidates,)
        """
        names = self.classifier.kinds
        least = _MIN_JOINT_SCORE / np.maximum(found.scores.astype(np.float32), 1e-6)
        least = np.clip(least, _NEVER_A_KIND, _ALWAYS_A_KIND)
        has_kind = (scores >= least) & (kinds < len(names))
        kind_names = np.array([*names, None], dtype=object)[np.where(has_kind, kinds, -1)]
        kind_scores = np.minimum(scores, 1.0).astype(object)
        kind_scores[~has_kind] = None
        return found.by_sentence(sentences, kind_names.tolist(), kind_scores.tolist())


def _with_listed_kinds(
    log_probabilities: LogProbabilities, listed: NDArray[np.int64]
) -> LogProbabilities:
    """Add the evidence of spans that are example names of a kind.

    log_probabilities: (spans, kinds)   listed: (spans,), the number of the kind, −1 for none
    """
    spans = np.flatnonzero(listed >= 0)
    if len(spans):
        log_probabilities[spans, listed[spans]] += np.float32(_LISTED_LOG_ODDS)
        log_probabilities[spans] = log_softmax(log_probabilities[spans])
    return log_probabilities


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
