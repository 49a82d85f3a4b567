"""Words and sentences with offsets; `segment` finds them in any text.

Words and sentence ends are patterns for the `regex` library over Unicode's own properties: it
speaks `\\p{…}` and grapheme clusters, counts in code points as Python does, and comes with
`transformers` wherever this package runs. ICU is several times faster, but counts in UTF-16, ends
sentences after "Dr." and "J.", and is missing on many machines; it is asked, if present, only for
the words of scripts without spaces. syntok and pysbd are rules in Python too, and slower.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from operator import add, le
from typing import Self

from thresher.errors import InputError
from thresher.text.segmentation.line_breaks import passages
from thresher.text.segmentation.sentence_ends import sentence_spans
from thresher.text.segmentation.word_pattern import words_of_chunk

MOST_WORDS = 256  # in a sentence; a longer one is cut

_INITIAL = re.compile(r"[^\W\d_]\.")


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its place: `text == document[start:end]`, in code points, end-exclusive."""

    text: str
    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end == self.start + len(self.text):
            raise ValueError(
                f"a word must cover its text: {self.text!r} cannot lie at {self.start}:{self.end}"
            )


@dataclass(frozen=True, slots=True)
class Sentence:
    """One word or more, in the order of the text, none overlapping.

    Words come by the million, so their texts and places are kept and `words` are made of them.

    texts: the words   starts: where each begins, in code points
    """

    texts: tuple[str, ...]
    starts: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.texts or not all(self.texts):
            raise ValueError("a sentence has at least one word, and none of them is empty")
        if len(self.texts) != len(self.starts) or self.starts[0] < 0:
            raise ValueError(f"words and where they start: {self.texts} at {self.starts}")
        ends = map(add, self.starts, map(len, self.texts))
        if not all(map(le, ends, self.starts[1:])):
            raise ValueError(f"words must be in order and apart: {self.texts} at {self.starts}")

    @classmethod
    def from_words(cls, words: Iterable[str]) -> Self:
        """A sentence that is already split; offsets are into `" ".join(words)`.

        Words are kept as they are, white space inside them too; only an empty one is refused.
        """
        texts = tuple(words)
        starts: list[int] = []
        start = 0
        for number, word in enumerate(texts, 1):
            if not word:
                raise InputError(f"word {number} of a sentence is empty")
            starts.append(start)
            start += len(word) + 1
        if not texts:
            raise InputError("a sentence without words cannot be used")
        return cls(texts, tuple(starts))

    @property
    def words(self) -> tuple[Word, ...]:
        """The words with their places."""
        return tuple(
            Word(text, start, start + len(text))
            for text, start in zip(self.texts, self.starts, strict=True)
        )

    @property
    def start(self) -> int:
        """Where the first word starts."""
        return self.starts[0]

    @property
    def end(self) -> int:
        """Where the last word ends."""
        return self.end_of(-1)

    def end_of(self, word: int) -> int:
        """Where a word ends."""
        return self.starts[word] + len(self.texts[word])


def segment(text: str) -> list[Sentence]:
    """The sentences of a text. Every character but white space lies in exactly one word."""
    sentences: list[Sentence] = []
    for passage in passages(text):
        for start, end in sentence_spans(text, *passage):
            texts = _words(text[start:end])
            starts = _starts(text, start, texts)
            for i in range(0, len(texts), MOST_WORDS):
                cut = slice(i, i + MOST_WORDS)
                sentences.append(Sentence(texts[cut], starts[cut]))
    return sentences


def _words(sentence: str) -> tuple[str, ...]:
    words = tuple(chain.from_iterable(map(words_of_chunk, sentence.split())))
    if len(words) > 1 and _INITIAL.fullmatch(words[-1]):
        # The stop of an initial at the end of a sentence ("Plan B.") is the sentence's own.
        return (*words[:-1], words[-1][:-1], ".")
    return words


def _starts(text: str, at: int, words: Iterable[str]) -> tuple[int, ...]:
    """Where words begin that follow each other from `at` on, with white space alone between."""
    starts = []
    for word in words:
        start = text.find(word, at)
        starts.append(start)
        at = start + len(word)
    return tuple(starts)
