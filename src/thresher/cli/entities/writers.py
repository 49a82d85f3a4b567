"""What was found, in the form that was asked for: pieces of text, as they are found."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thresher.bulk.chunks import FindSpans, Found, ReadWords, chunks
from thresher.bulk.workers import Finders
from thresher.cli.entities.highlight import highlighted
from thresher.text.corpus import Document
from thresher.text.formats.conll import to_conll, to_iob2
from thresher.text.formats.doccano import to_doccano
from thresher.text.formats.html import HtmlDocument, to_html
from thresher.text.formats.jsonl import to_jsonl
from thresher.text.formats.label_studio import to_label_studio
from thresher.text.formats.prodigy import to_prodigy
from thresher.text.records import JsonObject
from thresher.text.sources import display_name

if TYPE_CHECKING:
    from thresher.entities.finding.scored_text import ScoredSentence


@dataclass
class Find:
    """One run over documents.

    threshold: the least score of an entity; None for the model's own
    entities: how many were found so far
    """

    finders: Finders
    documents: Iterable[Document]
    threshold: float | None = None
    entities: int = 0

    def spans(self) -> Iterator[Found]:
        """Each document with its entities."""
        task = FindSpans(self.threshold)
        for chunk, found in self.finders.each(task, chunks(self.documents)):
            for document, spans in zip(chunk, found, strict=True):
                self.entities += len(spans)
                yield document, spans

    def jsonl(self) -> Iterator[str]:
        """A line a document: where it came from, its text, its spans."""
        for document, spans in self.spans():
            yield to_jsonl(document.text, spans, about=_place(document))

    def prodigy(self) -> Iterator[str]:
        """A task a document, with its words."""
        for document, spans in self.spans():
            split = document.segmented()
            yield to_prodigy(document.text, spans, sentences=split, about=_place(document))

    def doccano(self) -> Iterator[str]:
        """An example a document."""
        for document, spans in self.spans():
            yield to_doccano(document.text, spans, about=_place(document))

    def label_studio(self) -> Iterator[str]:
        """One array of tasks."""
        return to_label_studio(
            (document.text, spans, _place(document)) for document, spans in self.spans()
        )

    def html(self) -> Iterator[str]:
        """One page, texts under the name of their source where that changes."""
        return to_html(_under_their_sources(self.spans()))

    def terminal(self) -> Iterator[str]:
        """Coloured text."""
        return highlighted(self.spans())

    def conll(self) -> Iterator[str]:
        """A line a word: the word, its tag, its score."""
        for reading, spans in self._readings():
            yield to_conll(reading.words, spans, reading.scores.tolist())

    def iob2(self) -> Iterator[str]:
        """A line a word: the word and its tag."""
        for reading, spans in self._readings():
            yield to_iob2(reading.words, spans)

    def _readings(self) -> Iterator[tuple["ScoredSentence", list[tuple[int, int]]]]:
        task = ReadWords(self.threshold)
        for _, read in self.finders.each(task, chunks(self.documents)):
            for reading, found in read:
                self.entities += len(found)
                yield reading, found

    def written(self, form: str) -> Iterator[str]:
        """The pieces of the output in one of these forms."""
        forms: dict[str, Callable[[], Iterator[str]]] = {
            "terminal": self.terminal,
            "jsonl": self.jsonl,
            "conll": self.conll,
            "iob2": self.iob2,
            "html": self.html,
            "prodigy": self.prodigy,
            "doccano": self.doccano,
            "label-studio": self.label_studio,
        }
        return forms[form]()


def _under_their_sources(found: Iterable[Found]) -> Iterator[HtmlDocument]:
    source = None
    for document, spans in found:
        if document.source == source:
            yield document.text, spans
        else:
            source = document.source
            yield document.text, spans, display_name(source)


def _place(document: Document) -> JsonObject:
    return {"source": document.source, "line": document.number, "offset": document.offset}
