"""A text as a finder read it: its sentences, the score of each word, every candidate."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thresher.entities.finding.scored_text import ScoredSentence
from thresher.text.annotations import Span
from thresher.text.sentences import Sentence

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder


@dataclass(frozen=True)
class ReadText:
    """A text, its sentences, and what was read in each of them."""

    text: str
    sentences: Sequence[Sentence]
    readings: Sequence[ScoredSentence]

    def spans(self, threshold: float) -> list[Span]:
        """Its entities, as `EntityFinder.find` gives them."""
        return [
            candidate.in_text(self.text, sentence)
            for sentence, reading in zip(self.sentences, self.readings, strict=True)
            for candidate in reading.found(threshold)
        ]


def read_all(finder: "EntityFinder", texts: Sequence[str]) -> list[ReadText]:
    """Several texts, each by itself."""
    scored = finder.score_texts(texts)
    return [ReadText(each.text, each.sentences, each.scored_sentences) for each in scored]
