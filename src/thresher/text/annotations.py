"""Annotated text: spans of characters, and sentences with spans of words."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text with its score: `text == document[start:end]`.

    start, end: in characters, end-exclusive   score: from 0 to 1
    kind: such as "person"; None if the finder knows no kinds, or if none fits
    kind_score: the probability of the kind, given that the span is an entity
    """

    start: int
    end: int
    text: str
    score: float
    kind: str | None = None
    kind_score: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end == self.start + len(self.text):
            rule = "a span must have 0 ≤ `start` < `end` = `start` + the length of `text`"
            raise ValueError(f"{rule}, got {self.start}:{self.end} for {self.text!r}")
        if not 0 <= self.score <= 1:
            raise ValueError(f"`score` must be between 0 and 1, got {self.score}")
        if self.kind is not None or self.kind_score is not None:
            _check_kind(self.kind, self.kind_score)

    def __repr__(self) -> str:
        kind = "" if self.kind is None else f", kind={self.kind!r}, kind_score={self.kind_score}"
        span = f"start={self.start}, end={self.end}, text={self.text!r}, score={self.score}"
        return f"Span({span}{kind})"


def _check_kind(kind: str | None, score: float | None) -> None:
    if not kind:
        raise ValueError(f"`kind` must be None or a name, and have the `kind_score`: {kind!r}")
    if score is not None and not 0 <= score <= 1:
        raise ValueError(f"`kind_score` must be between 0 and 1, got {score}")


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """The words of a sentence with annotated spans `words[start:end]`.

    labels: one for each span; empty strings if the tags have no labels
    line: the sentence's first line in its file
    comments: names and values of comments such as "# id = 5"
    """

    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    labels: tuple[str, ...]
    line: int = 1
    comments: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        if not self.words or not all(self.words):
            raise ValueError(f"a sentence must have words, and none may be empty: {self.words}")
        if len(self.labels) != len(self.spans):
            raise ValueError(f"{len(self.labels)} labels for {len(self.spans)} spans")
        check_spans(self.spans, len(self.words))


def check_spans(spans: Sequence[tuple[int, int]], length: int) -> None:
    """Raise ValueError if spans are empty, out of order, overlapping or end after `length`."""
    for start, end in spans:
        if not 0 <= start < end <= length:
            raise ValueError(f"span {start}:{end} is not inside a sentence of {length} words")
    for left, right in pairwise(spans):
        if right[0] < left[1]:
            raise ValueError(f"spans must be in order and not overlap: {left}, {right}")
