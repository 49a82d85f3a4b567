"""A text in which someone marked spans of characters; the same in sentences of words."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from thresher.errors import InputError
from thresher.text.annotations import Span, TaggedSentence
from thresher.text.sentences import Sentence, segment


@dataclass(frozen=True, slots=True)
class TaggedText:
    """A text, its spans from left to right, and what each of them was called.

    number: the line or record of its file
    """

    text: str
    spans: tuple[Span, ...]
    labels: tuple[str, ...]
    number: int = 1

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.spans):
            raise ValueError(f"one label a span: {len(self.labels)} for {len(self.spans)}")
        for span in self.spans:
            if self.text[span.start : span.end] != span.text:
                raise ValueError(f"not a span of this text: {span}")
        for left, right in pairwise(self.spans):
            if right.start < left.end:
                raise InputError(f"spans overlap: {left.text!r} and {right.text!r}")

    def sentences(self) -> list[TaggedSentence]:
        """The same in words: a span covers every word that it touches, and ends with a sentence."""
        starts = [span.start for span in self.spans]
        ends = [span.end for span in self.spans]
        return [
            self._tagged(
                sentence,
                slice(bisect_right(ends, sentence.start), bisect_left(starts, sentence.end)),
            )
            for sentence in segment(self.text)
        ]

    def _tagged(self, sentence: Sentence, within: slice) -> TaggedSentence:
        touched = list(self._touched(sentence, within))
        return TaggedSentence(
            sentence.texts,
            tuple((start, end) for start, end, _ in touched),
            tuple(label for _, _, label in touched),
            line=self.number,
        )

    def _touched(self, sentence: Sentence, within: slice) -> Iterator[tuple[int, int, str]]:
        starts = sentence.starts
        ends = list(map(sentence.end_of, range(len(starts))))
        done = 0
        for span, label in zip(self.spans[within], self.labels[within], strict=True):
            first = max(done, bisect_right(ends, span.start))
            done = max(first, bisect_left(starts, span.end))
            if first < done:
                yield first, done, label
