"""Label the words of dates in English, Danish and Chinese text by rules, without annotated text.

Dates are years and the words next to them (`DatePrior`), months and days of the week, "today" and
the like, and periods: a number or "last", "next" and a unit ("three weeks", "last year").
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from thresher.entities.priors.dates import DatePrior, date_words

MONTHS_AND_DAYS = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february april june july "
    "august september october november december "
    "mandag tirsdag onsdag torsdag fredag lørdag søndag januar februar marts maj juni juli oktober "
    "星期一 星期二 星期三 星期四 星期五 星期六 星期日 周一 周二 周三 周四 周五 周六 周日".split()
)  # "may" and "march" are dates only next to a year, by `DatePrior`
RELATIVE = frozenset("today yesterday tomorrow tonight 今天 昨天 明天".split())
UNITS = frozenset(
    "day days week weeks month months year years decade decades century centuries "
    "dag dage uge uger måned måneder år 年 月 日 天 周 世纪".split()
)
BEFORE_UNITS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty "
    "hundred last next past this few several sidste næste to tre fire fem seks syv otte ni ti "
    "elleve tolv tyve".split()
)


def words_of_dates(sentences: Sequence[Sequence[str]]) -> frozenset[str]:
    """Return words whose case says nothing about them, because they are often part of a date."""
    return date_words(sentences) | MONTHS_AND_DAYS | RELATIVE | UNITS


def date_labels(sentences: Sequence[Sequence[str]]) -> NDArray[np.float32]:
    """Return 1 for a word of a date, NaN for other words: (words,)."""
    by_year = DatePrior(date_words(sentences) | MONTHS_AND_DAYS | RELATIVE).probabilities(sentences)
    in_period = [label for words in sentences for label in _in_period(words)]
    return np.where(in_period, np.float32(1), by_year)


def _in_period(words: Sequence[str]) -> list[bool]:
    """Return for each word whether it is a unit after a number, or the number before a unit."""
    folded = [word.casefold() for word in words]
    labels = [False] * len(words)
    for i in range(1, len(words)):
        counted = folded[i - 1] in BEFORE_UNITS or folded[i - 1].isdecimal()
        if folded[i] in UNITS and counted:
            labels[i - 1] = labels[i] = True
    return labels
