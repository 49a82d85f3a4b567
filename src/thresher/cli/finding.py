"""Documents in, what a finder finds in them out, a few at a time."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING

from thresher.cli.reading import words_of
from thresher.text.annotations import Span
from thresher.text.corpus import Document

if TYPE_CHECKING:
    from thresher import EntityFinder
    from thresher.entities.finder import Reading

TOGETHER = 512  # sentences of a file that is already split, read as one text

Words = Sequence[str]
Found = tuple[Document, list[Span]]


def read_sentences(finder: "EntityFinder", sentences: Iterable[Words]) -> Iterator["Reading"]:
    """The sentences of a text of any length, a few at a time."""
    waiting = iter(sentences)
    while group := list(islice(waiting, TOGETHER)):
        yield from finder.read(group)


def read_documents(finder: "EntityFinder", documents: Iterable[Document]) -> Iterator["Reading"]:
    """Every sentence of the documents; those of one file that is already split are one text."""
    for source, group in groupby(documents, key=_source_if_split):
        if source is None:
            for document in group:
                yield from read_sentences(finder, words_of(document))
        else:
            yield from read_sentences(finder, (words for each in group for words in words_of(each)))


def find_spans(
    finder: "EntityFinder", documents: Iterable[Document], *, threshold: float
) -> Iterator[Found]:
    """Each document with its entities; words that were given are taken as they are."""
    for source, group in groupby(documents, key=_source_if_split):
        find = _find_in_raw if source is None else _find_in_split
        yield from find(finder, group, threshold)


def _source_if_split(document: Document) -> str | None:
    return None if document.sentences is None else document.source


def _find_in_raw(
    finder: "EntityFinder", documents: Iterator[Document], threshold: float
) -> Iterator[Found]:
    ahead: deque[Document] = deque()  # the finder reads some texts before it gives the first

    def texts() -> Iterator[str]:
        for document in documents:
            ahead.append(document)
            yield document.text

    for spans in finder.find_all(texts(), threshold=threshold):
        yield ahead.popleft(), spans


def _find_in_split(
    finder: "EntityFinder", documents: Iterator[Document], threshold: float
) -> Iterator[Found]:
    while group := list(islice(documents, TOGETHER)):
        readings = read_sentences(finder, [words for each in group for words in words_of(each)])
        for document in group:
            yield (
                document,
                [
                    candidate.in_text(document.text, sentence)
                    for sentence in document.segmented()
                    for candidate in next(readings).found(threshold)
                ],
            )
