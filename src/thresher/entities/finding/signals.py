"""Signals of words besides their gates: casing, repetition, and whether a name is possible."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from thresher.entities.priors.casing import Casing, casing_of_words, is_caseless, is_word
from thresher.entities.priors.word_statistics import is_repeated_nearby
from thresher.text.indexed_sentences import IndexedSentences

_CACHE_SIZE = 1 << 16  # words; few words of running text are new
_OPENING, _SLASH, _EQUALS, _NAME, _IDENTIFIER = (1 << bit for bit in range(5))
_MARKS = {
    **{"<": _OPENING, "</": _OPENING},
    **{"/": _SLASH, "\\": _SLASH},
    **{"=": _EQUALS, "==": _EQUALS},
}

Flags = NDArray[np.bool_]
Sentences = Sequence[Sequence[str]]


@dataclass(frozen=True)
class WordSignals:
    """The signals of all words: (words,) each.

    casing: a `Casing`
    repeated: whether the word is rare in general and repeated nearby; None if it is unknown which
        words are rare. Such a word may be a technical term, so its lower case is uninformative
    possible: whether the word can be part of an entity: not punctuation, a number, an address or a
        word known not to be a name. If dates are entities, numbers are possible, too
    caseless: whether the word is in a script without case; None if this is not a signal
    """

    casing: NDArray[np.int8]
    repeated: Flags | None
    possible: Flags
    caseless: Flags | None = None

    def rows(self, index: NDArray[np.int64]) -> "WordSignals":
        """Return the signals of some words."""
        repeated = None if self.repeated is None else self.repeated[index]
        caseless = None if self.caseless is None else self.caseless[index]
        return WordSignals(self.casing[index], repeated, self.possible[index], caseless)

    def without_case(self) -> "WordSignals":
        """Return the signals as if the case of every word were uninformative."""
        return replace(self, casing=np.full_like(self.casing, Casing.UNINFORMATIVE))


@dataclass(frozen=True)
class SignalExtractor:
    """Extracts the signals of the words of texts.

    ordinary: words that are not rare in general, case-folded; None if unknown
    not_names: words known not to be names, case-folded
    dates: words of dates, case-folded, if dates are entities; their case is uninformative
    strict_headlines: as in `casing_of_words`, and markup is not possible; False for models of
        version 0.2 and before
    caseless: also tell which words are in a script without case
    """

    ordinary: Set[str] | None = None
    not_names: Set[str] = frozenset()
    dates: Set[str] | None = None
    strict_headlines: bool = False
    caseless: bool = False

    def extract(self, sentences: Sentences) -> WordSignals:
        """Return the signals of the words of one text."""
        return self.extract_texts([sentences])

    def extract_texts(self, texts: Sequence[Sentences]) -> WordSignals:
        """Return the signals of the words of all texts; repetitions count within a text."""
        sentences = texts[0] if len(texts) == 1 else chain.from_iterable(texts)
        words = IndexedSentences.from_sentences(sentences)
        casing = casing_of_words(
            words, strict_headlines=self.strict_headlines, only_cased_sentences=True
        )
        repeated = None
        if self.ordinary is not None:
            text_lengths = list(map(len, texts))
            repeated = is_repeated_nearby(words, self.ordinary, text_lengths=text_lengths)
            casing[repeated & (casing == Casing.LOWER)] = Casing.UNINFORMATIVE
        if self.dates is not None:
            casing[words.map_words(self._is_date, np.bool_)] = Casing.UNINFORMATIVE
        possible = words.map_words(self._is_possible, np.bool_)
        if self.strict_headlines:
            possible &= ~is_markup(words)
        caseless = words.map_words(is_caseless, np.bool_) if self.caseless else None
        return WordSignals(casing, repeated, possible, caseless)

    def _is_date(self, word: str) -> bool:
        return self.dates is not None and word.casefold() in self.dates

    def _is_possible(self, word: str) -> bool:
        if self.dates is not None and word[:1].isdecimal():
            return True
        return is_word(word) and word.casefold() not in self.not_names


def is_markup(sentences: IndexedSentences) -> Flags:
    """Return whether each word is a tag (`<div`, `</div`), an attribute or key (`class=`), an
    identifier (`user_id`) or part of a path (`/etc/app`): (words,).
    """
    traits = sentences.map_words(_markup_traits, np.int8)
    if not (traits & ~_NAME).any():
        return np.zeros(len(traits), dtype=np.bool_)
    opening, slash, equals, name, identifier = (
        (traits & each) != 0 for each in (_OPENING, _SLASH, _EQUALS, _NAME, _IDENTIFIER)
    )
    before, after = _previous(opening), _next(equals)
    closing = _previous(slash) & np.append([False, False], opening[:-2])[: len(slash)]
    tag = name & (before | closing)
    found: Flags = identifier | tag | (name & after & ~_next(_next(name)))
    return found


def _previous(flags: Flags) -> Flags:
    return np.append(False, flags[:-1])


def _next(flags: Flags) -> Flags:
    return np.append(flags[1:], False)


@lru_cache(_CACHE_SIZE)
def _markup_traits(word: str) -> int:
    """Return what `is_markup` needs to know of a word, as bits."""
    name = _NAME if word.isidentifier() else 0
    return _MARKS.get(word, 0) | name | (_IDENTIFIER if "_" in word.strip("_") else 0)
