"""Find dates as whole expressions: "12 ga watan Yuni 2020", "ọdún - un 2019", "siku tatu".

A date expression consists of parts: years, words of dates, and numbers next to them. Up to two
joining words may stand between two parts. A single word is a date only if it is a year or a word
such as "Monday" or "today"; "year" and "week" need a number. The words are learned from the text
at hand (`date_learning.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.entities.priors.dates import is_year

_MAX_GAP = 2  # joining words between two parts
_MAX_DIGITS = 4  # of a number beside a word of a date


@dataclass(frozen=True)
class DateExpressions:
    """The words that dates consist of, case-folded.

    words: months, days of the week, units of time, "today" …
    alone: those of `words` that are a date by themselves
    numerals: numbers in words, such as "three"
    joining: words between the parts of a date, such as "ga" and "," in "12 ga Yuni, 2020"
    numerals_follow: whether numerals follow the words of dates ("siku tatu"), or come before them
    """

    words: frozenset[str] = frozenset()
    alone: frozenset[str] = frozenset()
    numerals: frozenset[str] = frozenset()
    joining: frozenset[str] = frozenset()
    numerals_follow: bool = False

    def find(self, sentence: Sequence[str]) -> list[tuple[int, int]]:
        """Return the start and end of each date expression of a sentence, in words."""
        folded = [word.casefold() for word in sentence]
        if not any(word in self.words or is_year(word) for word in folded):
            return []
        parts = self._parts(folded)
        found, start = [], 0
        while start < len(parts):
            end = self._end(folded, parts, start) if parts[start] else start + 1
            if parts[start] and self._is_date(folded[start:end]):
                found.append((start, end))
            start = end
        return found

    def words_in_dates(self, sentences: Sequence[Sequence[str]]) -> NDArray[np.bool_]:
        """Return which words of all sentences are in date expressions: (words,)."""
        flags = []
        for sentence in sentences:
            own = [False] * len(sentence)
            for start, end in self.find(sentence):
                own[start:end] = [True] * (end - start)
            flags += own
        return np.array(flags, dtype=np.bool_)

    def _parts(self, words: Sequence[str]) -> list[bool]:
        """Return which words are parts of dates: words of dates, years and numbers beside them."""
        parts = [word in self.words or is_year(word) for word in words]
        for i in range(1, len(words)):
            parts[i] |= parts[i - 1] and self._is_number(words[i], follows=True)
        for i in reversed(range(len(words) - 1)):
            parts[i] |= parts[i + 1] and self._is_number(words[i], follows=False)
        return parts

    def _end(self, words: Sequence[str], parts: Sequence[bool], start: int) -> int:
        """Return the end of the expression that starts with a part."""
        end = start + 1
        while end < len(words):
            next_words = words[end : end + _MAX_GAP + 1]
            gap = next((i for i, word in enumerate(next_words) if word not in self.joining), 0)
            after = end + gap
            if not (parts[after] or (gap and self._is_number(words[after], follows=True))):
                break
            end = after + 1
        return end

    def _is_number(self, word: str, *, follows: bool) -> bool:
        if word[:1].isdecimal():
            return len(word) <= _MAX_DIGITS
        return word in self.numerals and follows == self.numerals_follow

    def _is_date(self, words: Sequence[str]) -> bool:
        return len(words) > 1 or is_year(words[0]) or words[0] in self.alone
