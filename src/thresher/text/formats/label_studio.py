"""Label Studio's tasks: one array, each text with the spans of a prediction.

Places count characters, as ours do. The names are those of Label Studio's own template for named
entities: `<Labels name="label" toName="text">` and `<Text name="text" value="$text"/>`.
"""

from collections.abc import Iterable, Iterator, Sequence

from thresher.errors import InputError
from thresher.text.annotations import Span
from thresher.text.formats.jsonl import DIGITS
from thresher.text.formats.span_checks import Mark, marked_text
from thresher.text.formats.tags import LABEL
from thresher.text.records import JsonObject, text_field, to_json_line
from thresher.text.tagged_text import TaggedText

Task = tuple[str, Sequence[Span], JsonObject | None]


def to_label_studio(
    tasks: Iterable[Task], *, label: str = LABEL, version: str = "thresher"
) -> Iterator[str]:
    """The pieces of a file: texts, each with its spans and what else is known about it."""
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
    if spans:  # as sure as the least sure, so that Label Studio can show doubtful texts first
        prediction["score"] = round(min(span.score for span in spans), DIGITS)
    return {"data": {**(about or {}), "text": text}, "predictions": [prediction]}


def _region(span: Span, label: str, number: int) -> JsonObject:
    return {
        "id": f"entity-{number}",
        "from_name": "label",
        "to_name": "text",
        "type": "labels",
        "value": {"start": span.start, "end": span.end, "text": span.text, "labels": [label]},
        "score": round(span.score, DIGITS),
    }


def from_label_studio(
    content: JsonObject, *, field: str = "text", number: int = 1
) -> TaggedText | None:
    """A task with what a person marked last, or else with what was predicted; None if neither."""
    text = text_of_task(content, field)
    try:
        regions = _regions(content)
        if regions is None:
            return None
        marks = [
            Mark(value["start"], value["end"], value["labels"][0], _score(region))
            for region in regions
            if "labels" in (value := region.get("value", {}))  # a relation has no value
        ]
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise InputError("its results are not values of start, end and labels") from error
    return marked_text(text, marks, number=number)


def _score(region: JsonObject) -> object:
    """Certain where no score is given; Label Studio writes null there."""
    score = region.get("score")
    return 1.0 if score is None else score


def text_of_task(content: JsonObject, field: str) -> str:
    """The text of a task."""
    data = content.get("data")
    if not isinstance(data, dict):
        raise InputError("not a task of Label Studio: it has no data")
    return text_field(data, field)


def _regions(content: JsonObject) -> list[JsonObject] | None:
    annotations = content.get("annotations") or []
    kept = [each for each in annotations if not each.get("was_cancelled")]
    if kept:
        return list(kept[-1].get("result", []))
    predictions = content.get("predictions") or []
    return None if annotations or not predictions else list(predictions[-1].get("result", []))
