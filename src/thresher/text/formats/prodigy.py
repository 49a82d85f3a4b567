"""Prodigy's tasks: a line of JSON each, with the words that an annotator selects.

Places count characters, as ours do. Words are written too, since Prodigy would otherwise split the
text by rules of its own and refuse spans that end within its words.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from thresher.errors import InputError
from thresher.text.annotations import Span
from thresher.text.formats.jsonl import DIGITS
from thresher.text.formats.span_checks import Mark, marked_text
from thresher.text.formats.tags import LABEL
from thresher.text.records import JsonObject, text_field, to_json_line
from thresher.text.sentences import Sentence, Word, segment
from thresher.text.tagged_text import TaggedText


def to_prodigy(
    text: str,
    spans: Iterable[Span],
    *,
    sentences: Sequence[Sentence] | None = None,
    label: str = LABEL,
    about: JsonObject | None = None,
) -> str:
    """A task and its line break; `about` is shown beside the text.

    sentences: how the text is split; by default as `segment` does
    """
    split = segment(text) if sentences is None else sentences
    words = [word for sentence in split for word in sentence.words]
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
    """Prodigy counts the last word in."""
    return {
        "start": span.start,
        "end": span.end,
        "token_start": bisect_right(words, span.start, key=lambda word: word.end),
        "token_end": bisect_left(words, span.end, key=lambda word: word.start) - 1,
        "label": label,
        "score": round(span.score, DIGITS),
    }


def from_prodigy(content: JsonObject, *, field: str = "text", number: int = 1) -> TaggedText | None:
    """A task with its spans; None if the annotator rejected or passed over it."""
    if content.get("answer", "accept") != "accept":
        return None
    spans = content.get("spans") or []
    try:
        marks = [Mark(s["start"], s["end"], s["label"], s.get("score", 1.0)) for s in spans]
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError("its spans are not lists of start, end and label") from error
    return marked_text(text_field(content, field), marks, number=number)
