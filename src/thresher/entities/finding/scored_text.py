"""Texts with the scores of their words and their candidate spans: the output of scoring."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.signal_weights import Scores
from thresher.text.annotations import Span
from thresher.text.sentences import Sentence


@dataclass(frozen=True)
class ScoredSentence:
    """A sentence with a score for every word, and all its candidate spans.

    scores: (words,), the probability that each word belongs to an entity
    candidates: of any score, from left to right
    """

    words: Sequence[str]
    scores: Scores
    candidates: Sequence[Candidate]

    def found(
        self, threshold: float, only: Collection[str | None] | None = None
    ) -> list[Candidate]:
        """Return the candidates that score at least the threshold.

        only: the kinds of candidates to return, None for those without a kind; by default all
        """
        return [
            each
            for each in self.candidates
            if each.score >= threshold and (only is None or each.kind in only)
        ]


class Mention(NamedTuple):
    """An entity, and the start and end of its sentence in the text."""

    span: Span
    sentence_start: int
    sentence_end: int


@dataclass(frozen=True)
class ScoredText:
    """A text, its sentences with offsets, and the scores of each of them.

    sentences, scored_sentences: of the same length and in the same order
    """

    text: str
    sentences: Sequence[Sentence]
    scored_sentences: Sequence[ScoredSentence]

    def spans(self, threshold: float, only: Collection[str | None] | None = None) -> list[Span]:
        """Return the entities as offsets: candidates that score at least the threshold.

        only: the kinds of entities to return, None for those without a kind; by default all
        """
        return [mention.span for mention in self.mentions(threshold, only)]

    def mentions(
        self, threshold: float, only: Collection[str | None] | None = None
    ) -> list[Mention]:
        """Return the entities, each with the bounds of its sentence; arguments as `spans`."""
        return [
            Mention(candidate.in_text(self.text, sentence), sentence.start, sentence.end)
            for sentence, scored in zip(self.sentences, self.scored_sentences, strict=True)
            for candidate in scored.found(threshold, only)
        ]
