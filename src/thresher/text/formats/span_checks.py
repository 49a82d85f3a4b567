"""Check spans that were read from a file."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from thresher.errors import InputError
from thresher.text.annotations import Span
from thresher.text.tagged_text import TaggedText


class UncheckedSpan(NamedTuple):
    """A span as it is in a file; its values may have any type."""

    start: Any
    end: Any
    label: Any
    score: Any = 1.0


def checked_text(text: str, spans: Iterable[UncheckedSpan], *, number: int) -> TaggedText:
    """Return the text with its spans in order; raise InputError for a span outside of it."""
    pairs = sorted(((_check(text, span), str(span.label)) for span in spans), key=_offsets)
    return TaggedText(
        text,
        tuple(span for span, _ in pairs),
        tuple(label for _, label in pairs),
        number=number,
    )


def _offsets(pair: tuple[Span, str]) -> tuple[int, int]:
    span, _ = pair
    return span.start, span.end


def _check(text: str, span: UncheckedSpan) -> Span:
    start, end, score = span.start, span.end, span.score
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
        raise InputError(f"span {start}:{end} is not inside its text of {len(text)} characters")
    if not isinstance(score, int | float) or not 0 <= score <= 1:
        raise InputError(f"the score of span {start}:{end} must be between 0 and 1, got {score!r}")
    return Span(start, end, text[start:end], float(score))
