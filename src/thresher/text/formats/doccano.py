"""Read and write doccano's examples: JSON lines `{"text": …, "label": [[start, end, "ENT"], …]}`.

doccano counts offsets in UTF-16 code units and has no scores; these are written to a field of
their own, which doccano keeps as metadata.
"""

from collections.abc import Iterable, Sequence

from thresher.errors import InputError
from thresher.text.annotations import Span
from thresher.text.formats.jsonl import SCORE_DIGITS
from thresher.text.formats.tags import ENTITY_LABEL
from thresher.text.records import JsonObject, text_field, to_json_line
from thresher.text.tagged_text import TaggedText, UncheckedSpan, checked_text
from thresher.text.utf16 import from_utf16, utf16_offsets


def to_doccano(
    text: str, spans: Iterable[Span], *, label: str = ENTITY_LABEL, about: JsonObject | None = None
) -> str:
    """Return an example as a line of JSON; doccano shows the fields of `about` as metadata.

    label: the label of spans without a kind
    """
    offsets = utf16_offsets(text)
    rows = [(offsets[span.start], offsets[span.end], span) for span in spans]
    example = {
        "text": text,
        "label": [[start, end, span.kind or label] for start, end, span in rows],
        "scores": [[start, end, round(span.score, SCORE_DIGITS)] for start, end, span in rows],
    }
    return to_json_line({**(about or {}), **example})


def from_doccano(values: JsonObject, *, field: str = "text", number: int = 1) -> TaggedText:
    """Read an example with its labels, from any version of doccano or from `to_doccano`.

    A label without a score for its offsets was made by a person and gets the score 1.
    """
    text = text_field(values, field)
    offsets = utf16_offsets(text)
    scores = {(start, end): score for start, end, score in _rows(values.get("scores", []))}
    spans = [
        UncheckedSpan(
            from_utf16(offsets, start),
            from_utf16(offsets, end),
            label,
            scores.get((start, end), 1.0),
        )
        for start, end, label in _labels(values)
    ]
    return checked_text(text, spans, number=number)


def _labels(values: JsonObject) -> Sequence[tuple[int, int, object]]:
    for name in ("label", "labels", "entities"):
        if values.get(name):
            return _rows(values[name])
    return []


def _rows(rows: object) -> Sequence[tuple[int, int, object]]:
    """Return triples; projects with relations have objects with three fields instead."""
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
    raise InputError("labels must be lists of start, end and name")
