"""A text with annotated spans of characters, and its sentences with spans of words.

Spans that were read from a file are checked first (`checked_text`).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from thresher.errors import InputError
from thresher.text.annotations import Span, TaggedSentence
from thresher.text.sentences import Sentence, segment


@dataclass(frozen=True, slots=True)
class TaggedText:
    """A text with annotated spans from left to right, and a label for each span.

    number: the line or record in its file
    """

    text: str
    spans: tuple[Span, ...]
    labels: tuple[str, ...]
    number: int = 1

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.spans):
            raise ValueError(f"{len(self.labels)} labels for {len(self.spans)} spans")
        for span in self.spans:
            if self.text[span.start : span.end] != span.text:
                raise ValueError(f"not a span of this text: {span}")
        for left, right in pairwise(self.spans):
            if right.start < left.end:
                raise InputError(f"spans overlap: {left.text!r} and {right.text!r}")

    def sentences(self) -> list[TaggedSentence]:
        """Split the text; a span covers the words it touches and is cut where a sentence ends."""
        starts = [span.start for span in self.spans]
        ends = [span.end for span in self.spans]
        return [
            self._tag_sentence(
                sentence,
                slice(bisect_right(ends, sentence.start), bisect_left(starts, sentence.end)),
            )
            for sentence in segment(self.text)
        ]

    def _tag_sentence(self, sentence: Sentence, within: slice) -> TaggedSentence:
        """Return the sentence with those of its spans that `within` selects."""
        word_spans = list(self._word_spans(sentence, within))
        return TaggedSentence(
            sentence.texts,
            tuple((start, end) for start, end, _ in word_spans),
            tuple(label for _, _, label in word_spans),
            line=self.number,
        )

    def _word_spans(self, sentence: Sentence, within: slice) -> Iterator[tuple[int, int, str]]:
        starts = sentence.starts
        ends = list(map(sentence.end_of, range(len(starts))))
        done = 0  # the first word after the spans so far
        for span, label in zip(self.spans[within], self.labels[within], strict=True):
            first = max(done, bisect_right(ends, span.start))
            done = max(first, bisect_left(starts, span.end))
            if first < done:
                yield first, done, label


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
        text, tuple(span for span, _ in pairs), tuple(label for _, label in pairs), number=number
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
