"""What others have marked in a text, checked and put in order."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from thresher.errors import InputError
from thresher.text.annotations import Span
from thresher.text.tagged_text import TaggedText


class Mark(NamedTuple):
    """A span as it was read, with nothing checked yet."""

    start: Any
    end: Any
    label: Any
    score: Any = 1.0


def marked_text(text: str, marks: Iterable[Mark], *, number: int) -> TaggedText:
    """The text with those spans; a mark that does not lie in it is refused."""
    pairs = sorted(((_span(text, mark), str(mark.label)) for mark in marks), key=_place)
    return TaggedText(
        text,
        tuple(span for span, _ in pairs),
        tuple(label for _, label in pairs),
        number=number,
    )


def _place(pair: tuple[Span, str]) -> tuple[int, int]:
    span, _ = pair
    return span.start, span.end


def _span(text: str, mark: Mark) -> Span:
    start, end, score = mark.start, mark.end, mark.score
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
        raise InputError(f"span {start}:{end} does not lie in its text of {len(text)} characters")
    if not isinstance(score, int | float) or not 0 <= score <= 1:
        raise InputError(f"the score of span {start}:{end} is {score!r}, not from 0 to 1")
    return Span(start, end, text[start:end], float(score))
