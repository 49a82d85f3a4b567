"""What is marked in a text: spans of characters, and sentences whose words carry spans."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text and how sure we are of it: `text == document[start:end]`."""

    start: int
    end: int
    text: str
    score: float

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end == self.start + len(self.text):
            raise ValueError(
                f"a span must cover its text: {self.text!r} cannot lie at {self.start}:{self.end}"
            )
        if not 0 <= self.score <= 1:
            raise ValueError(f"a score lies in [0, 1], not {self.score}")


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """Words, and the spans of words `words[start:end]` that someone marked in them.

    labels: what each span was called; empty strings where the tags name no kind
    line: where in its file the sentence begins
    """

    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    labels: tuple[str, ...]
    line: int = 1

    def __post_init__(self) -> None:
        if not self.words or not all(self.words):
            raise ValueError(f"a sentence has words, none of them empty: {self.words}")
        if len(self.labels) != len(self.spans):
            raise ValueError(f"one label a span: {len(self.labels)} for {len(self.spans)}")
        check_spans(self.spans, len(self.words))


def check_spans(spans: Sequence[tuple[int, int]], length: int) -> None:
    """Refuse spans that are empty, out of order, overlapping or beyond `length`."""
    for start, end in spans:
        if not 0 <= start < end <= length:
            raise ValueError(f"span {start}:{end} does not lie in a sentence of {length} words")
    for left, right in pairwise(spans):
        if right[0] < left[1]:
            raise ValueError(f"spans must be in order and apart: {left} then {right}")
