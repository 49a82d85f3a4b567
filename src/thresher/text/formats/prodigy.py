"""Read and write Prodigy's tasks: JSON lines with a text, its words and its spans.

Offsets are in characters. The words are written, too, because Prodigy would otherwise split the
text by its own rules and refuse spans that end inside its words.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from thresher.errors import InputError
from thresher.text.annotations import Span
from thresher.text.formats.jsonl import SCORE_DIGITS
from thresher.text.formats.tags import ENTITY_LABEL
from thresher.text.records import JsonObject, text_field, to_json_line
from thresher.text.sentences import Sentence, Word, segment
from thresher.text.tagged_text import TaggedText, UncheckedSpan, checked_text


def to_prodigy(
    text: str,
    spans: Iterable[Span],
    *,
    sentences: Sequence[Sentence] | None = None,
    label: str = ENTITY_LABEL,
    about: JsonObject | None = None,
) -> str:
    """Return a task as a line of JSON; Prodigy shows the fields of `about` beside the text.

    sentences: by default those that `segment` finds
    label: the label of spans without a kind
    """
    sentences = segment(text) if sentences is None else sentences
    words = [word for sentence in sentences for word in sentence.words]
    task = {
        "text": text,
        "tokens": [_token(text, word, number) for number, word in enumerate(words)],
        "spans": [_span(span, words, label) for span in spans],
    }
    return to_json_line(task | ({"meta": about} if about else {}))


def _token(text: str, word: Word, number: int) -> JsonObject:
    space = text[word.end : word.end + 1].isspace()
    return {"text": word.text, "start": word.start, "end": word.end, "id": number, "ws": space}


def _span(span: Span, words: Sequence[Word], label: str) -> JsonObject:
    """Return a span as Prodigy writes it; `token_end` is the index of its last word."""
    return {
        "start": span.start,
        "end": span.end,
        "token_start": bisect_right(words, span.start, key=lambda word: word.end),
        "token_end": bisect_left(words, span.end, key=lambda word: word.start) - 1,
        "label": span.kind or label,
        "score": round(span.score, SCORE_DIGITS),
    }


def from_prodigy(values: JsonObject, *, field: str = "text", number: int = 1) -> TaggedText | None:
    """Read a task with its spans; None if the annotator rejected or ignored it."""
    if values.get("answer", "accept") != "accept":
        return None
    spans = values.get("spans") or []
    try:
        rows = [UncheckedSpan(s["start"], s["end"], s["label"], s.get("score", 1.0)) for s in spans]
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError("spans must be objects with start, end and label") from error
    return checked_text(text_field(values, field), rows, number=number)
