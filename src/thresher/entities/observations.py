"""What is seen of each word beside its meaning, in many texts at once.

What a word is by itself is found out once and kept as the bits of a byte. The rest depends on the
words around it, and is arithmetic of arrays.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from thresher.entities.casing import (
    SENTENCE_STARTERS,
    Casing,
    has_letters,
    is_address,
    own_casing,
)
from thresher.entities.statistics import PASSAGE

_NEARBY = PASSAGE // 2
_MOST_KNOWN = 1 << 17  # words; all are forgotten when there would be more, so memory is bounded
_CASING, _STARTER, _POSSIBLE, _RARE, _DATE = 3, 4, 8, 16, 32  # bits

Flags = NDArray[np.bool_]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Observations:
    """What is seen of each word beside its meaning: (words,) each.

    casing: a `Casing`   repeated: rare in general, and again nearby; such a word may be a term,
    which nobody capitalises, so lower case says nothing of it. None where nobody knows what is
    rare in general
    possible: neither punctuation, a number, an address, nor a word known not to be a name; where
    dates are entities, numbers are possible too
    """

    casing: NDArray[np.int8]
    repeated: Flags | None
    possible: Flags


class Observer:
    """Looks at words.

    ordinary: words that are not rare in general, where that is known
    not_names: words known not to be names, case-folded
    dates: words of dates, where dates are entities; as of terms, lower case says nothing of them
    """

    def __init__(
        self,
        *,
        ordinary: Set[str] | None = None,
        not_names: Set[str] = frozenset(),
        dates: Set[str] | None = None,
    ) -> None:
        self._knows_rare = ordinary is not None
        self._signs = _Signs(ordinary, not_names, dates)

    def __call__(self, sentences: Sequence[Sequence[str]]) -> Observations:
        """What is seen in the sentences of one text."""
        return self.of_texts([sentences])

    def of_texts(self, texts: Sequence[Sequence[Sequence[str]]]) -> Observations:
        """The same for one text after the other; a word comes again only in its own."""
        every = list(chain.from_iterable(texts))
        words = list(chain.from_iterable(every))
        signs = np.fromiter(map(self._signs.__getitem__, words), np.uint8, count=len(words))
        sentence = np.repeat(np.arange(len(every)), list(map(len, every)))
        text = np.repeat(np.arange(len(texts)), list(map(len, texts)))[sentence]
        casing = visible_casing((signs & _CASING).astype(np.int8), (signs & _STARTER) > 0, sentence)
        again = None
        if self._knows_rare:
            again = again_nearby(words, (signs & _RARE) > 0, sentence, text)
            casing[again & (casing == Casing.LOWER)] = Casing.SILENT
        casing[(signs & _DATE) > 0] = Casing.SILENT
        return Observations(casing, again, possible=(signs & _POSSIBLE) > 0)


class _Signs(dict[str, int]):
    """What each word is by itself, as bits."""

    def __init__(
        self, ordinary: Set[str] | None, not_names: Set[str], dates: Set[str] | None
    ) -> None:
        self._ordinary, self._not_names, self._dates = ordinary, not_names, dates

    def __missing__(self, word: str) -> int:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        folded = word.casefold()
        number = self._dates is not None and word[:1].isdecimal()
        name = has_letters(word) and not is_address(word) and folded not in self._not_names
        rare = self._ordinary is not None and folded not in self._ordinary and has_letters(folded)
        self[word] = signs = (
            own_casing(word)
            | (_STARTER if word in SENTENCE_STARTERS else 0)
            | (_POSSIBLE if number or name else 0)
            | (_RARE if rare else 0)
            | (_DATE if self._dates is not None and folded in self._dates else 0)
        )
        return signs


def visible_casing(own: NDArray[np.int8], starter: Flags, sentence: Numbers) -> NDArray[np.int8]:
    """What the case of each word says; silent too where no word of its sentence has a capital.

    Otherwise `casing.casing` of each sentence.

    own: the casing of each word by itself   starter: whether a sentence may begin after it
    sentence: the number of its sentence, in order; (words,) each
    """
    if not len(own):
        return np.zeros(0, dtype=np.int8)
    count = sentence[-1] + 1
    capitals = np.bincount(sentence[own == Casing.CAPITAL], minlength=count)
    lower = np.bincount(sentence[own == Casing.LOWER], minlength=count)
    speaks = (capitals > 0) & (capitals < lower)
    said = np.where(speaks[sentence], own, Casing.SILENT).astype(np.int8)
    begins = np.concatenate([[True], (sentence[1:] != sentence[:-1]) | starter[:-1]])
    stretch = np.cumsum(begins)
    cased = np.flatnonzero(said)
    first = np.diff(stretch[cased], prepend=0) > 0  # the first that has case in its stretch
    said[cased[first]] = Casing.SILENT
    return said


def again_nearby(words: Sequence[str], rare: Flags, sentence: Numbers, text: Numbers) -> Flags:
    """Which of the rare words come again within ten sentences of their text: (words,).

    words, rare, sentence, text: of all words in turn, the number of its sentence and of its text
    """
    places = np.flatnonzero(rare)
    numbers: dict[str, int] = {}
    which = [numbers.setdefault(words[i].casefold(), len(numbers)) for i in places.tolist()]
    key = text[places] * len(numbers) + np.array(which, dtype=np.int64)
    order = np.argsort(key, kind="stable")
    same = np.diff(key[order]) == 0
    near = same & (np.diff(sentence[places][order]) <= _NEARBY)
    again = np.zeros(len(words), dtype=np.bool_)
    again[places[order[:-1][near]]] = True
    again[places[order[1:][near]]] = True
    return again
