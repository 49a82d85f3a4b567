"""Find dates by their years, in any language.

A number from 1500 to 2099 is nearly always a year. A word that is often next to a year is the name
of a month or means "year", and a short number near a year is a day.
"""

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FIRST_YEAR, LAST_YEAR = 1500, 2099
MAX_DAY_DISTANCE = 3  # words from a day to its year
MIN_FRACTION = 0.2  # of the occurrences of a date word are next to a year
MIN_COUNT = 5  # occurrences next to a year


def is_year(word: str) -> bool:
    """Return True for a number from 1500 to 2099, in the digits of any script."""
    return len(word) == 4 and word.isdecimal() and FIRST_YEAR <= int(word) <= LAST_YEAR


def date_words(sentences: Sequence[Sequence[str]]) -> frozenset[str]:
    """Return the words, case-folded, a fifth of whose occurrences are next to a year."""
    count: Counter[str] = Counter()
    next_to_year: Counter[str] = Counter()
    for words in sentences:
        folded = [word.casefold() for word in words]
        count.update(folded)
        near = _is_near_year(words, max_distance=1)
        next_to_year.update(word for word, is_near in zip(folded, near, strict=True) if is_near)
    return frozenset(
        word
        for word, times in next_to_year.items()
        if times >= MIN_COUNT and times >= MIN_FRACTION * count[word] and word.isalpha()
    )


def is_date(words: Sequence[str], date_words: Set[str]) -> bool:
    """Return True if words are a date: date words, years, days and signs, and not days alone.

    date_words: case-folded
    """
    is_part = [is_year(word) or word.casefold() in date_words for word in words]
    others = (word for word, part in zip(words, is_part, strict=True) if not part)
    return any(is_part) and all(_is_day(word) or not any(map(str.isalnum, word)) for word in others)


@dataclass(frozen=True)
class DatePrior:
    """Gives the parts of dates the probability 1: years, days near them and date words.

    words: date words, case-folded
    """

    words: Set[str]

    def probabilities(self, sentences: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        """Return 1 for a part of a date, NaN for other words: (words,)."""
        return np.fromiter(
            (
                1.0 if self._is_date_part(word, near) else np.nan
                for words in sentences
                for word, near in zip(
                    words, _is_near_year(words, max_distance=MAX_DAY_DISTANCE), strict=True
                )
            ),
            dtype=np.float32,
        )

    def _is_date_part(self, word: str, near_year: bool) -> bool:
        return is_year(word) or word.casefold() in self.words or (near_year and _is_day(word))


def _is_near_year(words: Sequence[str], *, max_distance: int) -> Iterator[bool]:
    """Yield for each word whether another word within `max_distance` words is a year."""
    years = [i for i, word in enumerate(words) if is_year(word)]
    return (any(0 < abs(i - year) <= max_distance for year in years) for i in range(len(words)))


def _is_day(word: str) -> bool:
    return len(word) <= 2 and word.isdecimal()
