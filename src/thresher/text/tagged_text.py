"""A text with annotated spans of characters, and its sentences with spans of words."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

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
