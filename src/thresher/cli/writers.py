"""What was found, in the form that was asked for: pieces of text, as they are found."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thresher.cli.finding import Found, find_spans, read_documents
from thresher.cli.highlight import highlighted
from thresher.text.corpus import Document
from thresher.text.formats.conll import to_conll, to_iob2
from thresher.text.formats.doccano import to_doccano
from thresher.text.formats.html import to_html
from thresher.text.formats.jsonl import to_jsonl
from thresher.text.formats.label_studio import to_label_studio
from thresher.text.formats.prodigy import to_prodigy
from thresher.text.formats.records import Content

if TYPE_CHECKING:
    from thresher import EntityFinder
    from thresher.entities.finder import Reading


@dataclass
class Find:
    """One run of a finder over documents.

    entities: how many were found so far
    """

    finder: "EntityFinder"
    documents: Iterable[Document]
    threshold: float
    entities: int = 0

    def spans(self) -> Iterator[Found]:
        """Each document with its entities."""
        for document, spans in find_spans(self.finder, self.documents, threshold=self.threshold):
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
        """One page."""
        return to_html((document.text, spans) for document, spans in self.spans())

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

    def _readings(self) -> Iterator[tuple["Reading", list[tuple[int, int]]]]:
        for reading in read_documents(self.finder, self.documents):
            found = reading.found(self.threshold)
            self.entities += len(found)
            yield reading, [(each.start, each.end) for each in found]

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


def _place(document: Document) -> Content:
    return {"source": document.source, "line": document.number, "offset": document.offset}
