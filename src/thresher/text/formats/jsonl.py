"""Spans as JSON objects: in a line of JSON for each text, and as the rows of a table."""

from collections.abc import Iterable, Iterator, Sequence

from thresher.text.annotations import Span
from thresher.text.document import Document
from thresher.text.records import JsonObject, to_json_line

SCORE_DIGITS = 6
TEXT_COLUMNS = ("source", "line", "offset")
SPAN_COLUMNS = ("start", "end", "text", "kind", "score", "kind_score")


def to_jsonl(text: str, spans: Iterable[Span], *, about: JsonObject | None = None) -> str:
    """Return a line `{…about, "text": …, "spans": [{"start", "end", "text", "score"}, …]}`.

    A span with a kind also has the fields "kind" and "kind_score".

    about: other fields of the record
    """
    return to_json_line({**(about or {}), "text": text, "spans": list(map(span_object, spans))})


def span_object(span: Span) -> JsonObject:
    """Return a span as a JSON object; it has a kind only if the span has one."""
    values: JsonObject = {
        "start": span.start,
        "end": span.end,
        "text": span.text,
        "score": round(span.score, SCORE_DIGITS),
    }
    if span.kind is not None:
        values["kind"] = span.kind
    if span.kind_score is not None:
        values["kind_score"] = round(span.kind_score, SCORE_DIGITS)
    return values


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
