"""What was found, as JSONL, CoNLL, HTML or for the eye: pieces of text, as they are found."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thresher.cli.finding import Found, find_spans, read_documents
from thresher.cli.highlight import highlighted
from thresher.text.corpus import Document
from thresher.text.formats.conll import to_conll
from thresher.text.formats.html import to_html
from thresher.text.formats.jsonl import to_jsonl

if TYPE_CHECKING:
    from thresher import EntityFinder


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
            place = {"source": document.source, "line": document.number, "offset": document.offset}
            yield f"{json.dumps(place)[:-1]}, {to_jsonl(document.text, spans)[1:]}"

    def html(self) -> Iterator[str]:
        """One page."""
        return to_html((document.text, spans) for document, spans in self.spans())

    def terminal(self) -> Iterator[str]:
        """Coloured text."""
        return highlighted(self.spans())

    def conll(self) -> Iterator[str]:
        """A line a word: the word, its tag, its score."""
        for reading in read_documents(self.finder, self.documents):
            found = reading.found(self.threshold)
            self.entities += len(found)
            spans = [(each.start, each.end) for each in found]
            yield to_conll(reading.words, spans, reading.scores.tolist())

    def written(self, form: str) -> Iterator[str]:
        """The pieces of the output in one of the four forms."""
        forms: dict[str, Callable[[], Iterator[str]]] = {
            "terminal": self.terminal,
            "jsonl": self.jsonl,
            "conll": self.conll,
            "html": self.html,
        }
        return forms[form]()
