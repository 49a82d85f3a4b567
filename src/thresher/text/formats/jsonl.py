"""Write a text and its spans as a line of JSON."""

from collections.abc import Iterable

from thresher.text.annotations import Span
from thresher.text.records import JsonObject, to_json_line

SCORE_DIGITS = 6


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
