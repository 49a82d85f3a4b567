"""Spans as the rows of a table: where the text was read, its other fields, and the span."""

from collections.abc import Iterator, Sequence

from thresher.text.annotations import Span
from thresher.text.document import Document
from thresher.text.formats.jsonl import span_object
from thresher.text.records import JsonObject

TEXT_COLUMNS = ("source", "line", "offset")
SPAN_COLUMNS = ("start", "end", "text", "kind", "score", "kind_score")


def span_rows(document: Document, spans: Sequence[Span]) -> Iterator[JsonObject]:
    """Yield a row for each span, with the columns `TEXT_COLUMNS`, other fields, `SPAN_COLUMNS`.

    A record with other fields and no span has one row with empty cells, so that no id is lost.

    start and end count from the beginning of the text, not of the file; `offset` is the difference
    """
    about = document.about(*SPAN_COLUMNS)
    if document.fields and not spans:
        yield about | dict.fromkeys(SPAN_COLUMNS)
    for span in spans:
        yield about | dict.fromkeys(SPAN_COLUMNS) | span_object(span)
