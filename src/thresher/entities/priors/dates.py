"""Dates, where they are to count as entities: told by their years, in any language.

A number from 1500 to 2099 is a year nearly always, and years tell the rest: a word that often
stands beside one is the name of a month or means "year", and a short number near one is a day.
"""

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

EARLIEST, LATEST = 1500, 2099
REACH = 3  # words from a day to its year
OFTEN = 0.2  # of the occurrences of a word
LEAST = 5  # occurrences beside a year


def is_year(word: str) -> bool:
    """Whether it is a number from 1500 to 2099, in the digits of any script."""
    return len(word) == 4 and word.isdecimal() and EARLIEST <= int(word) <= LATEST


def date_words(sentences: Sequence[Sequence[str]]) -> frozenset[str]:
    """Words of letters, case-folded, of which a fifth of the occurrences stand beside a year."""
    count: Counter[str] = Counter()
    beside: Counter[str] = Counter()
    for words in sentences:
        folded = [word.casefold() for word in words]
        count.update(folded)
        near = _near_a_year(words, reach=1)
        beside.update(word for word, is_near in zip(folded, near, strict=True) if is_near)
    return frozenset(
        word
        for word, times in beside.items()
        if times >= LEAST and times >= OFTEN * count[word] and word.isalpha()
    )


@dataclass(frozen=True)
class DatePrior:
    """Years, days near them and words of dates are entities; of others nothing is said."""

    words: Set[str]

    def opinions(self, sentences: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        """1 for a part of a date, NaN for any other word: (words,)."""
        return np.fromiter(
            (
                1.0 if self._is_part(word, near) else np.nan
                for words in sentences
                for word, near in zip(words, _near_a_year(words, reach=REACH), strict=True)
            ),
            dtype=np.float32,
        )

    def _is_part(self, word: str, near_a_year: bool) -> bool:
        return is_year(word) or word.casefold() in self.words or (near_a_year and _is_day(word))


def _near_a_year(words: Sequence[str], *, reach: int) -> Iterator[bool]:
    """For each word, whether another within so many words of it is a year."""
    years = [i for i, word in enumerate(words) if is_year(word)]
    return (any(0 < abs(i - year) <= reach for year in years) for i in range(len(words)))


def _is_day(word: str) -> bool:
    return len(word) <= 2 and word.isdecimal()
