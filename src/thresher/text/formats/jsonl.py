"""A text and its spans as a line of JSON."""

from collections.abc import Iterable

from thresher.text.annotations import Span
from thresher.text.records import JsonObject, to_json_line

DIGITS = 6  # of a score


def to_jsonl(text: str, spans: Iterable[Span], *, about: JsonObject | None = None) -> str:
    """`{…about, "text": …, "spans": [{"start", "end", "text", "score"}, …]}` and a line break."""
    marked = [
        {"start": s.start, "end": s.end, "text": s.text, "score": round(s.score, DIGITS)}
        for s in spans
    ]
    return to_json_line({**(about or {}), "text": text, "spans": marked})
