"""Learn the words of dates from the text at hand, without labels and without lists of words.

`multilingual` has two selectors: one finds names, the other one names and dates. The difference
of their log-odds is evidence for a date. Single values are unreliable in a language that the
encoder hardly knows, but the mean over all occurrences of a word is not:

- words of dates have a mean difference of at least 1.2, and the second selector finds them often
  enough. Words that are found less often, but stand next to such words in two fifths of their
  occurrences, are words of dates, too (days of the week after "yesterday" in Hausa);
- numerals have a difference of at least 1, but the second selector finds them rarely, and they
  stand where numbers in digits do: before or after the words of dates;
- joining words are between two parts of dates in at least one of 25 occurrences;
- a word is a date by itself if the second selector finds it often enough, unless it is a word in
  lower case that often stands next to a number, as units of time do.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.date_expressions import DateExpressions
from thresher.entities.finding.signal_weights import Scores, gate_log_odds
from thresher.entities.finding.signals import Flags
from thresher.text.indexed_sentences import IndexedSentences

MIN_DIFFERENCE, MIN_NUMERAL_DIFFERENCE = 1.2, 1.0  # of a word's mean log-odds
MIN_LOG_ODDS, MIN_LOG_ODDS_BESIDE_DATES, MIN_LOG_ODDS_ALONE = -3.3, -4.5, -2.5
_MIN_COUNT = 2
_BESIDE_DATES, _ROUNDS = 0.4, 2  # fraction of the occurrences of a word
_MIN_JOINING, _MIN_JOINED = 0.04, 3  # fraction and number of the occurrences of a word
_UNIT = 0.1  # fraction of the occurrences of a unit of time that are next to a number


def learn_date_expressions(
    sentences: Sequence[Sequence[str]], name_gates: Scores, date_gates: Scores
) -> DateExpressions:
    """Return the words of dates in sentences.

    name_gates, date_gates: (words,), P(open) of a selector for names, and for names and dates
    """
    words = _WordTypes(IndexedSentences.from_sentences(sentences))
    of_names = words.mean(gate_log_odds(name_gates))
    of_dates = words.mean(gate_log_odds(date_gates))
    difference = (of_dates - of_names) * words.count / (words.count + 1)
    possible = words.alphabetic & (words.count >= _MIN_COUNT)
    not_names = possible & (of_names < 0)
    dates = not_names & (difference >= MIN_DIFFERENCE) & (of_dates >= MIN_LOG_ODDS)
    expected = not_names & (difference >= 0) & (of_dates >= MIN_LOG_ODDS_BESIDE_DATES)
    for _ in range(_ROUNDS):
        dates = dates | (expected & (words.fraction(words.beside(dates)) >= _BESIDE_DATES))
    follow = words.total(words.digits, words.after(dates)) >= words.total(
        words.digits, words.before(dates)
    )
    numeral_place = words.after(dates) if follow else words.before(dates)
    numerals = possible & ~dates & (of_dates < MIN_LOG_ODDS)
    numerals &= (difference >= MIN_NUMERAL_DIFFERENCE) & (words.number(numeral_place) > 1)
    parts = dates | numerals | words.digits
    between = words.between(parts)
    joining = ~parts & (words.number(between) >= _MIN_JOINED)
    joining &= words.fraction(between) >= _MIN_JOINING
    is_unit = words.fraction(words.beside(numerals | words.digits)) >= _UNIT
    is_unit &= words.capital_rate < 0.5
    alone = dates & (of_dates >= MIN_LOG_ODDS_ALONE) & ~is_unit
    return DateExpressions(
        words=words.named(dates),
        alone=words.named(alone),
        numerals=words.named(numerals),
        joining=words.named(joining),
        numerals_follow=follow,
    )


class _WordTypes:
    """Counts of the distinct words of a text, case-folded.

    Flags of distinct words have the shape (vocabulary,), those of running words (words,).
    """

    def __init__(self, sentences: IndexedSentences) -> None:
        folded = sentences.replace_words(str.casefold)
        self.ids, self.vocabulary = folded.word_ids, folded.vocabulary
        self._sentence = folded.sentence_of_word()
        self.count = folded.word_counts()
        self.digits: Flags = folded.map_vocabulary(lambda word: word[:1].isdecimal(), np.bool_)
        self.alphabetic: Flags = ~self.digits & folded.map_vocabulary(
            lambda word: len(word) > 1 and any(map(str.isalpha, word)), np.bool_
        )
        capital = sentences.map_words(lambda word: word[:1].isupper(), np.bool_)
        self.capital_rate = self.fraction(capital)

    def mean(self, values: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the mean of a value of running words for each distinct word: (vocabulary,)."""
        return np.bincount(self.ids, values, len(self.count)) / self.count

    def number(self, running: Flags) -> NDArray[np.int64]:
        """Return how many occurrences of each distinct word have a flag: (vocabulary,)."""
        return np.bincount(self.ids[running], minlength=len(self.count))

    def fraction(self, running: Flags) -> NDArray[np.float64]:
        """Return the fraction of the occurrences of each word that have a flag: (vocabulary,)."""
        return self.number(running) / self.count

    def total(self, distinct: Flags, running: Flags) -> int:
        """Return how many running words have both flags."""
        return int((distinct[self.ids] & running).sum())

    def before(self, distinct: Flags) -> Flags:
        """Return which running words are directly before such a word: (words,)."""
        return self._shifted(distinct[self.ids], -1)

    def after(self, distinct: Flags) -> Flags:
        """Return which running words are directly after such a word: (words,)."""
        return self._shifted(distinct[self.ids], 1)

    def beside(self, distinct: Flags) -> Flags:
        """Return which running words are next to such a word: (words,)."""
        return self.before(distinct) | self.after(distinct)

    def between(self, distinct: Flags) -> Flags:
        """Return which running words are in a gap of one or two between such words: (words,)."""
        inside = distinct[self.ids]
        outside = ~inside
        after, before = self._shifted(inside, 1), self._shifted(inside, -1)
        one = outside & after & before
        first = outside & after & self._shifted(outside & before, -1)
        return one | first | self._shifted(first, 1)

    def named(self, distinct: Flags) -> frozenset[str]:
        """Return the words that have a flag."""
        return frozenset(self.vocabulary[i] for i in np.flatnonzero(distinct).tolist())

    def _shifted(self, flags: Flags, step: int) -> Flags:
        """Return the flag of the word before (step 1) or after (−1) in the sentence: (words,)."""
        shifted = np.zeros_like(flags)
        if step > 0:
            shifted[1:] = flags[:-1] & (self._sentence[1:] == self._sentence[:-1])
        else:
            shifted[:-1] = flags[1:] & (self._sentence[1:] == self._sentence[:-1])
        return shifted
