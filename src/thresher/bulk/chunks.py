"""Documents in chunks, and what a finder finds in one; a chunk is what a process is sent."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from typing import TYPE_CHECKING

from thresher.text.annotations import Span
from thresher.text.corpus import Document

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder
    from thresher.entities.finding.scored_text import ScoredSentence

CHARACTERS = 1 << 17  # of raw texts in a chunk: batches of good size, and soon done
TOGETHER = 512  # sentences of a file that is already split, read as one text

Chunk = list[Document]
Found = tuple[Document, list[Span]]


def chunks(documents: Iterable[Document]) -> Iterator[Chunk]:
    """Raw texts, as many as make good batches; or some of one file that is already split."""
    for source, group in groupby(documents, key=_source_if_split):
        if source is None:
            yield from _of_like_size(group)
        else:
            while few := list(islice(group, TOGETHER)):
                yield few


def _source_if_split(document: Document) -> str | None:
    return None if document.sentences is None else document.source


def _of_like_size(documents: Iterable[Document]) -> Iterator[Chunk]:
    chunk: Chunk = []
    characters = 0
    for document in documents:
        chunk.append(document)
        characters += len(document.text)
        if characters >= CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


@dataclass(frozen=True)
class FindSpans:
    """The task of finding the entities of each document of a chunk.

    threshold: the least score of an entity; None for the model's own
    """

    threshold: float | None = None

    def __call__(self, finder: "EntityFinder", chunk: Chunk) -> list[list[Span]]:
        """Words that were given are taken as they are, all of the chunk as one text."""
        if chunk[0].sentences is None:
            return list(finder.find_all((each.text for each in chunk), threshold=self.threshold))
        found = iter(finder.find_words(list(sentences_of(chunk)), threshold=self.threshold))
        return [
            [
                candidate.in_text(document.text, sentence)
                for sentence in document.segmented()
                for candidate in next(found)
            ]
            for document in chunk
        ]


@dataclass(frozen=True)
class ReadWords:
    """The task of scoring every word of a chunk: each sentence, and its entities as words."""

    threshold: float | None = None

    def __call__(
        self, finder: "EntityFinder", chunk: Chunk
    ) -> list[tuple["ScoredSentence", list[tuple[int, int]]]]:
        """Texts share batches and nothing else; those of a file already split are one text."""
        least = finder.threshold if self.threshold is None else self.threshold
        return [
            (scored, [(each.start, each.end) for each in scored.found(least)])
            for scored in _scored(finder, chunk)
        ]


def _scored(finder: "EntityFinder", chunk: Chunk) -> list["ScoredSentence"]:
    if chunk[0].sentences is not None:
        return finder.score_sentences(list(sentences_of(chunk)))
    scored_texts = finder.score_texts(document.text for document in chunk)
    return [sentence for text in scored_texts for sentence in text.scored_sentences]


def sentences_of(documents: Iterable[Document]) -> Iterator[list[str]]:
    """The words of each sentence, as given where a source was already split."""
    for document in documents:
        for sentence in document.segmented():
            yield list(sentence.texts)
