"""A text as a finder read it: its sentences, the score of each word, every candidate."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thresher.entities.finding.text_finder import Reading
from thresher.text.annotations import Span
from thresher.text.sentences import Sentence, segment

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder


@dataclass(frozen=True)
class ReadText:
    """A text, its sentences, and what was read in each of them."""

    text: str
    sentences: Sequence[Sentence]
    readings: Sequence[Reading]

    def spans(self, threshold: float) -> list[Span]:
        """Its entities, as `EntityFinder.find` gives them."""
        return [
            candidate.in_text(self.text, sentence)
            for sentence, reading in zip(self.sentences, self.readings, strict=True)
            for candidate in reading.found(threshold)
        ]


def read_all(finder: "EntityFinder", texts: Sequence[str]) -> list[ReadText]:
    """Several texts, each by itself."""
    split = [segment(text) for text in texts]
    read = finder.read_all([[sentence.texts for sentence in each] for each in split])
    return [ReadText(*each) for each in zip(texts, split, read, strict=True)]
