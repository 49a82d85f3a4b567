"""doccano's examples: a line of JSON each, `{"text": …, "label": [[start, end, "ENT"], …]}`.

doccano counts places as its page does, in UTF-16 code units, and knows no scores; they are written
beside the labels, where doccano keeps them as metadata.
"""

from collections.abc import Iterable, Sequence

from thresher.errors import InputError
from thresher.text.annotations import Span
from thresher.text.formats.jsonl import DIGITS
from thresher.text.formats.span_checks import Mark, marked_text
from thresher.text.formats.tags import LABEL
from thresher.text.records import JsonObject, text_field, to_json_line
from thresher.text.tagged_text import TaggedText
from thresher.text.utf16 import from_utf16, utf16_offsets


def to_doccano(
    text: str, spans: Iterable[Span], *, label: str = LABEL, about: JsonObject | None = None
) -> str:
    """An example and its line break; doccano shows `about` as metadata."""
    place = utf16_offsets(text)
    placed = [(place[s.start], place[s.end], round(s.score, DIGITS)) for s in spans]
    example = {
        "text": text,
        "label": [[start, end, label] for start, end, _ in placed],
        "scores": [[start, end, score] for start, end, score in placed],
    }
    return to_json_line({**(about or {}), **example})


def from_doccano(content: JsonObject, *, field: str = "text", number: int = 1) -> TaggedText:
    """An example with its labels, whether written by us, by old versions of doccano or by new.

    A label whose place has a score keeps it; what a person marked is certain.
    """
    text = text_field(content, field)
    place = utf16_offsets(text)
    scores = {(start, end): score for start, end, score in _rows(content.get("scores", []))}
    marks = [
        Mark(
            from_utf16(place, start),
            from_utf16(place, end),
            label,
            scores.get((start, end), 1.0),
        )
        for start, end, label in _labels(content)
    ]
    return marked_text(text, marks, number=number)


def _labels(content: JsonObject) -> Sequence[tuple[int, int, object]]:
    for name in ("label", "labels", "entities"):
        if content.get(name):
            return _rows(content[name])
    return []


def _rows(rows: object) -> Sequence[tuple[int, int, object]]:
    """Triples, or what a project with relations has in their place."""
    try:
        triples = [
            (row["start_offset"], row["end_offset"], row["label"])
            if isinstance(row, dict)
            else tuple(row)
            for row in rows  # type: ignore[attr-defined]
        ]
        if all(type(start) is type(end) is int for start, end, _ in triples):
            return triples
    except (KeyError, TypeError, ValueError):
        pass
    raise InputError("its labels are not lists of start, end and name")
