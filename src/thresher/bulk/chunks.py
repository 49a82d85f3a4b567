"""Group documents into chunks, and the tasks that a finder runs on a chunk."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, islice
from typing import TYPE_CHECKING

from thresher.entities.finding.kind_filter import checked_filter
from thresher.text.annotations import Span
from thresher.text.document import Document

if TYPE_CHECKING:
    from thresher.entities.finding.decoding import Candidate
    from thresher.entities.finding.scored_text import Mention, ScoredSentence, ScoredText
    from thresher.entities.finding.text_finder import TextFinder

CHUNK_CHARACTERS = 1 << 17  # of raw texts: enough for full batches, and quickly done
CHUNK_SENTENCES = 512  # of a file that is already split into words

Chunk = list[Document]
DocumentSpans = tuple[Document, list[Span]]


def split_into_chunks(documents: Iterable[Document]) -> Iterator[Chunk]:
    """Yield chunks of raw texts, and chunks of documents of one file that is already split."""
    for source, group in groupby(documents, key=_source_if_split):
        if source is None:
            yield from _chunks_of_raw_texts(group)
        else:
            while chunk := list(islice(group, CHUNK_SENTENCES)):
                yield chunk


def _source_if_split(document: Document) -> str | None:
    return None if document.sentences is None else document.source


def _chunks_of_raw_texts(documents: Iterable[Document]) -> Iterator[Chunk]:
    chunk: Chunk = []
    characters = 0
    for document in documents:
        chunk.append(document)
        characters += len(document.text)
        if characters >= CHUNK_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


@dataclass(frozen=True)
class _Task:
    """A task that a finder runs on a chunk.

    threshold: the minimum score of an entity; None for the model's own
    only: the kinds of entities to keep; None for all
    """

    threshold: float | None = None
    only: tuple[str, ...] | None = None


class FindSpans(_Task):
    """The task of finding the entities of each document of a chunk."""

    def __call__(self, finder: "TextFinder", chunk: Chunk) -> list[list[Span]]:
        """Return the entities of each document.

        Documents that are already split keep their words, and all of a chunk form one text.
        """
        kept = checked_filter(finder, self.threshold, self.only)
        return [text.spans(*kept) for text in _scored_texts(finder, chunk)]


class ScoreWords(_Task):
    """The task of scoring every word of a chunk."""

    def __call__(
        self, finder: "TextFinder", chunk: Chunk
    ) -> list[list[tuple["ScoredSentence", list["Candidate"]]]]:
        """Return the sentences of each document with their entities."""
        kept = checked_filter(finder, self.threshold, self.only)
        return [
            [(sentence, sentence.found(*kept)) for sentence in text.scored_sentences]
            for text in _scored_texts(finder, chunk)
        ]


class FindMentions(_Task):
    """The task of finding the entities of each document of a chunk, with their sentences."""

    def __call__(self, finder: "TextFinder", chunk: Chunk) -> list[list["Mention"]]:
        """Return the mentions of each document."""
        kept = checked_filter(finder, self.threshold, self.only)
        return [text.mentions(*kept) for text in _scored_texts(finder, chunk)]


def _scored_texts(finder: "TextFinder", chunk: Chunk) -> Iterator["ScoredText"]:
    from thresher.entities.finding.scored_text import ScoredText  # noqa: PLC0415 (numpy)

    if chunk[0].sentences is None:
        yield from finder.score_texts(document.text for document in chunk)
        return
    scored = iter(finder.score_sentences(list(sentences_of(chunk))))
    for document in chunk:
        sentences = document.segmented()
        yield ScoredText(document.text, sentences, list(islice(scored, len(sentences))))


def sentences_of(documents: Iterable[Document]) -> Iterator[list[str]]:
    """Yield the words of each sentence; those of split documents are not changed."""
    for document in documents:
        for sentence in document.segmented():
            yield list(sentence.texts)
