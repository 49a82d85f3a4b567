"""Write a text and its spans as a line of JSON."""

from collections.abc import Iterable

from thresher.text.annotations import Span
from thresher.text.records import JsonObject, to_json_line

SCORE_DIGITS = 6


def to_jsonl(text: str, spans: Iterable[Span], *, about: JsonObject | None = None) -> str:
    """Return a line `{…about, "text": …, "spans": [{"start", "end", "text", "score"}, …]}`.

    about: other fields of the record
    """
    span_objects = [
        {"start": s.start, "end": s.end, "text": s.text, "score": round(s.score, SCORE_DIGITS)}
        for s in spans
    ]
    return to_json_line({**(about or {}), "text": text, "spans": span_objects})
