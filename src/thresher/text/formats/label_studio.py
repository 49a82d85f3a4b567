"""Read and write Label Studio's tasks: a JSON array of texts with predicted spans.

Offsets are in characters. The field names are those of Label Studio's template for named entities:
`<Labels name="label" toName="text">` and `<Text name="text" value="$text"/>`.
"""

from collections.abc import Iterable, Iterator, Sequence

from thresher.errors import InputError
from thresher.text.annotations import Span
from thresher.text.formats.jsonl import SCORE_DIGITS
from thresher.text.formats.tags import ENTITY_LABEL
from thresher.text.records import JsonObject, split_text, to_json_line
from thresher.text.tagged_text import TaggedText, UncheckedSpan, checked_text

Task = tuple[str, Sequence[Span], JsonObject | None]


def to_label_studio(
    tasks: Iterable[Task], *, label: str = ENTITY_LABEL, version: str = "thresher"
) -> Iterator[str]:
    """Yield the parts of a file.

    tasks: texts, their spans, and other fields of the record or None
    label: the label of spans without a kind
    version: the name of the model, which Label Studio shows
    """
    lead = "["
    for text, spans, about in tasks:
        yield lead + to_json_line(_task(text, spans, about, label, version)).rstrip("\n")
        lead = ",\n"
    yield "[]\n" if lead == "[" else "]\n"


def _task(
    text: str, spans: Sequence[Span], about: JsonObject | None, label: str, version: str
) -> JsonObject:
    prediction: JsonObject = {
        "model_version": version,
        "result": [_region(span, label, number) for number, span in enumerate(spans, 1)],
    }
    if spans:  # the lowest score, so that Label Studio can show uncertain texts first
        prediction["score"] = round(min(span.score for span in spans), SCORE_DIGITS)
    return {"data": {**(about or {}), "text": text}, "predictions": [prediction]}


def _region(span: Span, label: str, number: int) -> JsonObject:
    return {
        "id": f"entity-{number}",
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        "value": {
            "start": span.start,
            "end": span.end,
            "text": span.text,
            "labels": [span.kind or label],
        },
        "score": round(span.score, SCORE_DIGITS),
    }


def from_label_studio(
    values: JsonObject, *, field: str = "text", number: int = 1
) -> TaggedText | None:
    """Read a task with its last annotation, or else its last prediction; None if it has neither."""
    text, _ = split_task(values, field)
    try:
        regions = _regions(values)
        if regions is None:
            return None
        spans = [
            UncheckedSpan(value["start"], value["end"], value["labels"][0], _score(region))
            for region in regions
            if "labels" in (value := region.get("value", {}))  # a relation has no value
        ]
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise InputError("results must have values with start, end and labels") from error
    return checked_text(text, spans, number=number)


def _score(region: JsonObject) -> object:
    """Return the score of a region; 1 if a person made it, for which Label Studio writes null."""
    score = region.get("score")
    return 1.0 if score is None else score


def split_task(values: JsonObject, field: str) -> tuple[str, JsonObject]:
    """Return the text of a task, and its other data and its id."""
    data = values.get("data")
    if not isinstance(data, dict):
        raise InputError("not a Label Studio task: it has no data")
    identity = {"id": values["id"]} if "id" in values else {}
    return split_text(identity | data, field)


def _regions(values: JsonObject) -> list[JsonObject] | None:
    annotations = values.get("annotations") or []
    completed = [each for each in annotations if not each.get("was_cancelled")]
    if completed:
        return list(completed[-1].get("result", []))
    predictions = values.get("predictions") or []
    return None if annotations or not predictions else list(predictions[-1].get("result", []))
