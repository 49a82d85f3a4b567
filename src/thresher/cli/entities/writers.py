"""Write found entities in the output formats of `thresher find`, piece by piece."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thresher.bulk.chunks import DocumentSpans, FindSpans, ScoreWords, split_into_chunks
from thresher.bulk.workers import FinderPool
from thresher.cli.entities.highlight import highlighted_documents
from thresher.entities.finding.decoding import Candidate, word_spans
from thresher.text.document import Document
from thresher.text.formats.conll import to_comments, to_conll, to_iob2
from thresher.text.formats.doccano import to_doccano
from thresher.text.formats.html import HtmlDocument, to_html
from thresher.text.formats.jsonl import SPAN_COLUMNS, TEXT_COLUMNS, span_rows, to_jsonl
from thresher.text.formats.label_studio import to_label_studio
from thresher.text.formats.prodigy import to_prodigy
from thresher.text.formats.tables import to_csv, to_parquet
from thresher.text.records import JsonObject
from thresher.text.sources import display_name

if TYPE_CHECKING:
    from thresher.entities.finding.scored_text import ScoredSentence

SentenceEntities = tuple["ScoredSentence", list[Candidate]]


@dataclass
class EntityWriter:
    """Finds the entities of documents and writes them in an output format.

    threshold: minimum score of an entity; None for the threshold of the model
    only: kinds of entities to write; None for all
    entities: number of entities found so far
    """

    finders: FinderPool
    documents: Iterable[Document]
    threshold: float | None = None
    only: tuple[str, ...] | None = None
    entities: int = 0

    def spans(self) -> Iterator[DocumentSpans]:
        """Yield each document with its entities."""
        task = FindSpans(self.threshold, self.only)
        for chunk, found in self.finders.map(task, split_into_chunks(self.documents)):
            for document, spans in zip(chunk, found, strict=True):
                self.entities += len(spans)
                yield document, spans

    def jsonl(self) -> Iterator[str]:
        """Yield a JSON line for each document: its source, text and spans."""
        for document, spans in self.spans():
            yield to_jsonl(document.text, spans, about=document.about("text", "spans"))

    def prodigy(self) -> Iterator[str]:
        """Yield a Prodigy task for each document."""
        for document, spans in self.spans():
            split = document.segmented()
            yield to_prodigy(document.text, spans, sentences=split, about=document.about())

    def doccano(self) -> Iterator[str]:
        """Yield a Doccano example for each document."""
        for document, spans in self.spans():
            about = document.about("text", "label", "scores")
            yield to_doccano(document.text, spans, about=about)

    def label_studio(self) -> Iterator[str]:
        """Yield the pieces of one JSON array of Label Studio tasks."""
        return to_label_studio(
            (document.text, spans, document.about("text")) for document, spans in self.spans()
        )

    def html(self) -> Iterator[str]:
        """Yield the pieces of one HTML page, with a heading where a new source begins."""
        return to_html(_with_headings(self.spans()))

    def terminal(self) -> Iterator[str]:
        """Yield coloured text."""
        return highlighted_documents(self.spans())

    def conll(self) -> Iterator[str]:
        """Yield sentences with a line for each word: the word, its tag, its score.

        The fields of a record are comments before its first sentence.
        """
        for document, sentences in self._scored_sentences():
            comments = to_comments(document.fields)
            yield comments
            for sentence, found in sentences:
                spans, kinds = word_spans(found)
                yield to_conll(sentence.words, spans, sentence.scores.tolist(), kinds=kinds)
            if comments and not sentences:
                yield "\n"

    def iob2(self) -> Iterator[str]:
        """Yield sentences with a line for each word: the word and its tag."""
        for _, sentences in self._scored_sentences():
            for sentence, found in sentences:
                spans, kinds = word_spans(found)
                yield to_iob2(sentence.words, spans, kinds=kinds)

    def _scored_sentences(self) -> Iterator[tuple[Document, list[SentenceEntities]]]:
        task = ScoreWords(self.threshold, self.only)
        for chunk, scored in self.finders.map(task, split_into_chunks(self.documents)):
            for document, sentences in zip(chunk, scored, strict=True):
                self.entities += sum(len(found) for _, found in sentences)
                yield document, sentences

    def csv(self) -> Iterator[str]:
        """Yield the lines of a table with a row for each entity."""
        return to_csv(self._rows(), first=TEXT_COLUMNS, last=SPAN_COLUMNS)

    def tsv(self) -> Iterator[str]:
        """Yield the lines of a table whose cells are separated by tabs."""
        return to_csv(self._rows(), first=TEXT_COLUMNS, last=SPAN_COLUMNS, delimiter="\t")

    def parquet(self) -> Iterator[bytes]:
        """Yield the parts of a Parquet file with a row for each entity."""
        return to_parquet(self._rows(), first=TEXT_COLUMNS, last=SPAN_COLUMNS)

    def _rows(self) -> Iterator[JsonObject]:
        for document, spans in self.spans():
            yield from span_rows(document, spans)

    def pieces(self, output_format: str) -> Iterator[str] | Iterator[bytes]:
        """Yield the output in a format, piece by piece; the method has the name of the format."""
        write: Callable[[], Iterator[str] | Iterator[bytes]]
        write = getattr(self, output_format.replace("-", "_"))
        return write()


def _with_headings(found: Iterable[DocumentSpans]) -> Iterator[HtmlDocument]:
    source = None
    for document, spans in found:
        heading = None if document.source == source else display_name(document.source)
        source = document.source
        yield HtmlDocument(document.text, spans, heading, document.fields)
