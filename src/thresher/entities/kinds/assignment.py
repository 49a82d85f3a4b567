"""Give candidates their kinds; mentions of the same entity in a text share their evidence."""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.signal_weights import Scores
from thresher.entities.kinds.classifier import KindClassifier, LogProbabilities, log_softmax
from thresher.entities.kinds.shared_evidence import Mentions
from thresher.entities.kinds.span_vectors import Vectors, span_bounds, span_means, span_vectors
from thresher.entities.priors.dates import is_date
from thresher.entities.priors.word_lists import ARTICLES

_MIN_GATE = 1e-3  # a closed gate is not certain
_GATE_SHARE = 0.2  # the weight of the evidence of kind gates; the rest is that of the classifier
_LISTED_LOG_ODDS = 4.0  # added for a name that is listed as an example of a kind
_NEEDS_ARTICLE = -2  # instead of the number of a kind
# A span gets a kind if it is an entity of this kind with at least this probability: about half of a
# usual typed F1, which is the threshold of the largest expected F1; see `best_threshold`.
_MIN_JOINT_SCORE = 0.22
_ALWAYS_A_KIND, _NEVER_A_KIND = 0.8, 0.3  # kind scores that decide, whatever the score of the span

Sentences = Sequence[Sequence[str]]
Name = tuple[str, ...]  # the case-folded words of a name


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
        texts: Sequence[Sentences],
        candidates: Sequence[Sequence[Candidate]],
        encoded: EncodedWords,
        dates: Set[str] | None = None,
    ) -> list[list[Candidate]]:
        """Return the candidates of each sentence with their kinds.

        Dates have no kind, unless most examples of a kind are dates.

        texts: of sentences   candidates: for each sentence of all texts
        dates: words of dates, case-folded, if dates are entities
        """
        if not any(candidates):
            return [list(each) for each in candidates]
        names = _folded_names(texts, candidates)
        bounds = span_bounds([words for text in texts for words in text], candidates)
        vectors = span_vectors(encoded.vectors, *bounds)
        log_probabilities = self.classifier.log_probabilities(vectors)
        if encoded.kind_scores is not None:
            of_gates = _gate_evidence(encoded.kind_scores, bounds, log_probabilities.shape[1])
            log_probabilities = (1 - _GATE_SHARE) * log_probabilities + _GATE_SHARE * of_gates
        listed = self._listed_kinds(texts, candidates, names)
        log_probabilities = _with_listed_kinds(log_probabilities, listed)
        shared = np.exp(Mentions.in_texts(names).share(log_probabilities))
        scores = shared.max(axis=1)
        if dates is not None:
            of_dates = [is_date(name, dates) for name in chain.from_iterable(names)]
            if any(of_dates) and not self._has_kind_of_dates(dates):
                scores[of_dates] = 0.0
        return self._with_kinds(candidates, shared.argmax(axis=1), scores)

    @cached_property
    def _kinds_of_names(self) -> Mapping[Name, int]:
        """`listed`, and `_NEEDS_ARTICLE` for listed names without their article."""
        after_articles = (name[1:] for name in self.listed if name[0] in ARTICLES and name[1:])
        return {**dict.fromkeys(after_articles, _NEEDS_ARTICLE), **self.listed}

    def _listed_kinds(
        self,
        texts: Sequence[Sentences],
        candidates: Sequence[Sequence[Candidate]],
        names: Sequence[Sequence[Name]],
    ) -> NDArray[np.int64]:
        """Return for each span the number of the kind of which it is an example, or −1.

        Finding often leaves out articles, so the one before a span is taken into account.

        names: of the spans of each text
        """
        kind_of = self._kinds_of_names.get
        kinds = np.array([kind_of(each, -1) for each in chain.from_iterable(names)], np.int64)
        undecided = np.flatnonzero(kinds == _NEEDS_ARTICLE).tolist()
        if undecided:
            flat, words_before = list(chain.from_iterable(names)), _words_before(texts, candidates)
            for span in undecided:
                kinds[span] = self.listed.get((words_before[span], *flat[span]), -1)
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
        candidates: Sequence[Sequence[Candidate]],
        kinds: NDArray[np.int64],
        scores: NDArray[np.float32],
    ) -> list[list[Candidate]]:
        """Return the candidates of each sentence with their kinds.

        kinds: (candidates,), the best kind or background kind of each   scores: (candidates,)
        """
        names = self.classifier.kinds
        found = np.array([each.score for each in chain.from_iterable(candidates)], np.float32)
        least = np.clip(_MIN_JOINT_SCORE / np.maximum(found, 1e-6), _NEVER_A_KIND, _ALWAYS_A_KIND)
        has_kind = (scores >= least) & (kinds < len(names))
        values = (each.tolist() for each in (has_kind, kinds, np.minimum(scores, 1.0)))
        # `_replace` would take longer than everything else here.
        given = iter(
            [
                Candidate(each[0], each[1], each[2], names[kind], score) if has_kind else each
                for each, has_kind, kind, score in zip(
                    chain.from_iterable(candidates), *values, strict=True
                )
            ]
        )
        return [list(islice(given, len(found))) for found in candidates]


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


def _folded_names(
    texts: Sequence[Sentences], candidates: Sequence[Sequence[Candidate]]
) -> list[list[Name]]:
    """Return the case-folded words of the candidates of each text."""
    remaining = iter(candidates)
    return [
        [
            (words[each.start].casefold(),)
            if each.end == each.start + 1
            else tuple(map(str.casefold, words[each.start : each.end]))
            for words in text
            for each in next(remaining)
        ]
        for text in texts
    ]


def _words_before(
    texts: Sequence[Sentences], candidates: Sequence[Sequence[Candidate]]
) -> list[str]:
    """Return the word before each candidate, case-folded; "" at the start of a sentence."""
    sentences = chain.from_iterable(texts)
    return [
        words[each.start - 1].casefold() if each.start else ""
        for words, found in zip(sentences, candidates, strict=True)
        for each in found
    ]
