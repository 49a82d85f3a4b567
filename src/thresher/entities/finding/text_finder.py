"""What every finder does with texts, whatever scores their words."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.signal_weights import Scores
from thresher.errors import InputError
from thresher.text.annotations import Span
from thresher.text.sentences import Sentence, segment

_WORDS_TOGETHER = 20_000  # words of several texts that are read in common batches

Document = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Reading:
    """A sentence, the probability of each word, and every candidate.

    scores: (words,), the probability that each word belongs to an entity
    """

    words: Sequence[str]
    scores: Scores
    candidates: Sequence[Candidate]

    def found(self, threshold: float) -> list[Candidate]:
        """The candidates that are entities."""
        return [each for each in self.candidates if each.score >= threshold]


class TextFinder(ABC):
    """Finds spans in texts, given a way to read documents."""

    @property
    @abstractmethod
    def threshold(self) -> float:
        """Candidates that score at least this much are entities."""

    @abstractmethod
    def _read(self, documents: Sequence[Document]) -> list[list[Reading]]:
        """The readings of the sentences of each document."""

    def find(self, text: str, *, threshold: float | None = None) -> list[Span]:
        """The entities of a text, from left to right."""
        return next(self.find_all([text], threshold=threshold))

    def find_all(
        self, texts: Iterable[str], *, threshold: float | None = None
    ) -> Iterator[list[Span]]:
        """The entities of each text in turn. Lazy: texts are read a few at a time."""
        least = self._threshold(threshold)
        for group in _groups(not_a_string(texts, "texts", "find")):
            read = self._read([[each.texts for each in sentences] for _, sentences in group])
            for (text, sentences), readings in zip(group, read, strict=True):
                yield [
                    candidate.in_text(text, sentence)
                    for sentence, reading in zip(sentences, readings, strict=True)
                    for candidate in reading.found(least)
                ]

    def find_words(
        self, sentences: Document, *, threshold: float | None = None
    ) -> list[list[Candidate]]:
        """The entities of each sentence of one text that is already split, as ranges of words."""
        least = self._threshold(threshold)
        return [reading.found(least) for reading in self.read(sentences)]

    def read(self, sentences: Document) -> list[Reading]:
        """Every sentence of one text with the scores of its words and all its candidates."""
        return self.read_all([sentences])[0]

    def read_all(self, documents: Sequence[Document]) -> list[list[Reading]]:
        """`read` for several texts, which share batches and nothing else."""
        if any(isinstance(words, str) for sentences in documents for words in sentences):
            raise InputError("a sentence is a list of words, not a string; for a text use find")
        return self._read(documents)

    def _threshold(self, threshold: float | None) -> float:
        if threshold is None:
            return self.threshold
        if not 0 <= threshold <= 1:
            raise InputError(f"a threshold lies in [0, 1]; got {threshold}")
        return threshold


def not_a_string(texts: Iterable[str], name: str, instead: str) -> Iterable[str]:
    """Refuse one string where many are asked for: its characters would be taken for texts."""
    if isinstance(texts, str):
        raise InputError(f"{name} are several strings; for a single one use {instead}")
    return texts


def _groups(texts: Iterable[str]) -> Iterator[list[tuple[str, list[Sentence]]]]:
    """Texts with their sentences, as many together as make good batches."""
    group: list[tuple[str, list[Sentence]]] = []
    words = 0
    for text in texts:
        if not isinstance(text, str):  # a table's missing value, say
            raise InputError(f"a text is a string; got {type(text).__name__} {text!r}")
        sentences = segment(text)
        group.append((text, sentences))
        words += sum(len(sentence.texts) for sentence in sentences)
        if words >= _WORDS_TOGETHER:
            yield group
            group, words = [], 0
    if group:
        yield group
