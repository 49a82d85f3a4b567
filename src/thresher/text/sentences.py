"""Split a text into sentences and words with offsets.

Words and sentence ends are matched by patterns of the `regex` library, which supports Unicode
properties (`\\p{…}`) and grapheme clusters and counts in code points as Python does. ICU is several
times faster, but counts in UTF-16, ends sentences after "Dr." and "J.", and is not installed on
many machines; if it is there, it splits the words of scripts without spaces. syntok and pysbd are
written in Python, too, and slower.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from operator import add, le
from typing import Self

from thresher.errors import InputError
from thresher.text.segmentation.line_breaks import split_passages
from thresher.text.segmentation.sentence_ends import sentence_spans
from thresher.text.segmentation.word_pattern import split_chunk

MAX_SENTENCE_WORDS = 256  # longer sentences are cut

_INITIAL = re.compile(r"[^\W\d_]\.")


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its offsets: `text == document[start:end]`, in characters, end-exclusive."""

    text: str
    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end == self.start + len(self.text):
            rule = "a word must have 0 ≤ `start` < `end` = `start` + the length of `text`"
            raise ValueError(f"{rule}, got {self.start}:{self.end} for {self.text!r}")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One or more words in the order of the text, without overlaps.

    There may be millions of words, so a sentence stores only their texts and offsets; `words`
    creates `Word` objects from them.

    texts: the words   starts: the offset of each, in characters
    """

    texts: tuple[str, ...]
    starts: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.texts or not all(self.texts):
            raise ValueError("a sentence must have at least one word, and none may be empty")
        if len(self.texts) != len(self.starts) or self.starts[0] < 0:
            raise ValueError(f"words need one offset each, from 0: {self.texts} at {self.starts}")
        ends = map(add, self.starts, map(len, self.texts))
        if not all(map(le, ends, self.starts[1:])):
            raise ValueError(f"words must not overlap: {self.texts} at {self.starts}")

    @classmethod
    def from_words(cls, words: Iterable[str]) -> Self:
        """Make a sentence from its words; offsets refer to `" ".join(words)`.

        Words are not changed, even if they contain white space; an empty word raises InputError.
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
            raise InputError("a sentence has no words")
        return cls(texts, tuple(starts))

    @property
    def words(self) -> tuple[Word, ...]:
        """The words with their offsets."""
        return tuple(
            Word(text, start, start + len(text))
            for text, start in zip(self.texts, self.starts, strict=True)
        )

    @property
    def start(self) -> int:
        """The offset of the first word."""
        return self.starts[0]

    @property
    def end(self) -> int:
        """The end of the last word."""
        return self.end_of(-1)

    def end_of(self, word: int) -> int:
        """Return the end of the word with this index."""
        return self.starts[word] + len(self.texts[word])


def segment(text: str) -> list[Sentence]:
    """Split a text into sentences; every character but white space is in exactly one word."""
    return list(iter_sentences(text))


def iter_sentences(text: str) -> Iterator[Sentence]:
    """Yield the same sentences as `segment`, one at a time."""
    for passage in split_passages(text):
        for start, end in sentence_spans(text, *passage):
            texts = _split_words(text[start:end])
            starts = _word_offsets(text, start, texts)
            for i in range(0, len(texts), MAX_SENTENCE_WORDS):
                cut = slice(i, i + MAX_SENTENCE_WORDS)
                yield Sentence(texts[cut], starts[cut])


def _split_words(sentence: str) -> tuple[str, ...]:
    words = tuple(chain.from_iterable(map(split_chunk, sentence.split())))
    if len(words) > 1 and _INITIAL.fullmatch(words[-1]):
        # The full stop after a final initial ("Plan B.") ends the sentence, not the word.
        return (*words[:-1], words[-1][:-1], ".")
    return words


def _word_offsets(text: str, position: int, words: Iterable[str]) -> tuple[int, ...]:
    """Return the offsets of consecutive words, the first of which is at or after `position`."""
    starts = []
    for word in words:
        start = text.find(word, position)
        starts.append(start)
        position = start + len(word)
    return tuple(starts)
