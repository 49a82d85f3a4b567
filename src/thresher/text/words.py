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
from itertools import pairwise
from typing import Self

from thresher.errors import InputError
from thresher.text.line_breaks import passages
from thresher.text.sentence_ends import sentence_spans
from thresher.text.word_pattern import words_of_chunk

MOST_WORDS = 256  # in a sentence; a longer one is cut

_set = object.__setattr__
_CHUNK = re.compile(r"\S+")  # `re`, since its white space is exactly that of `str.isspace`
_INITIAL = re.compile(r"[^\W\d_]\.")


@dataclass(frozen=True, slots=True, init=False)
class Word:
    """A word and its place: `text == document[start:end]`, in code points, end-exclusive."""

    text: str
    start: int
    end: int

    def __init__(self, text: str, start: int, end: int) -> None:
        # Written out, since words come by the million: a third faster than the generated one.
        if not 0 <= start < end == start + len(text):
            raise ValueError(f"a word must cover its text: {text!r} cannot lie at {start}:{end}")
        _set(self, "text", text)
        _set(self, "start", start)
        _set(self, "end", end)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One word or more, in the order of the text, none overlapping."""

    words: tuple[Word, ...]

    def __post_init__(self) -> None:
        if not self.words:
            raise ValueError("a sentence has at least one word")
        for left, right in pairwise(self.words):
            if right.start < left.end:
                raise ValueError(f"words must be in order and apart: {left} then {right}")

    @classmethod
    def from_words(cls, words: Iterable[str]) -> Self:
        """A sentence that is already split; offsets are into `" ".join(words)`.

        Words are kept as they are, white space inside them too; only an empty one is refused.
        """
        placed: list[Word] = []
        start = 0
        for number, word in enumerate(words, 1):
            if not word:
                raise InputError(f"word {number} of a sentence is empty")
            placed.append(Word(word, start, start + len(word)))
            start += len(word) + 1
        if not placed:
            raise InputError("a sentence without words cannot be used")
        return cls(tuple(placed))

    @property
    def start(self) -> int:
        """Where the first word starts."""
        return self.words[0].start

    @property
    def end(self) -> int:
        """Where the last word ends."""
        return self.words[-1].end


def segment(text: str) -> list[Sentence]:
    """The sentences of a text. Every character but white space lies in exactly one word."""
    return [
        Sentence(tuple(words[i : i + MOST_WORDS]))
        for passage in passages(text)
        for span in sentence_spans(text, *passage)
        for words in [_words(text, *span)]
        for i in range(0, len(words), MOST_WORDS)
    ]


def _words(text: str, start: int, end: int) -> list[Word]:
    words: list[Word] = []
    for chunk in _CHUNK.finditer(text, start, end):
        at = chunk.start()
        for word in words_of_chunk(chunk.group()):
            words.append(Word(word, at, at := at + len(word)))
    if len(words) > 1 and _INITIAL.fullmatch(words[-1].text):
        words[-1:] = _letter_and_stop(words[-1])
    return words


def _letter_and_stop(initial: Word) -> tuple[Word, Word]:
    """An initial in two: at the end of a sentence ("Plan B.") the stop is the sentence's own."""
    middle = initial.end - 1
    return Word(initial.text[:-1], initial.start, middle), Word(".", middle, initial.end)
