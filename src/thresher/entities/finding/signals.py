"""Signals of words besides their gates: casing, repetition, and whether a name is possible."""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.date_expressions import DateExpressions
from thresher.entities.priors.casing import (
    CASE_TRAITS,
    Casing,
    case_traits,
    casing_of_words,
    is_caseless,
    is_word,
)
from thresher.entities.priors.word_statistics import is_rare, repeated_nearby
from thresher.text.indexed_sentences import IndexedSentences, WordCache

# Bits of the traits of a word; those below are its `case_traits`.
_OPENING, _SLASH, _EQUALS, _NAME, _IDENTIFIER = (1 << bit for bit in range(8, 13))
_POSSIBLE, _DATE, _RARE, _CASELESS = (1 << bit for bit in range(13, 17))
_MARKS = {
    "<": _OPENING,
    "</": _OPENING,
    "/": _SLASH,
    "\\": _SLASH,
    "=": _EQUALS,
    "==": _EQUALS,
}
_FILE_NAME = re.compile(  # without endings that names of products have, such as Node.js
    r"[^.].*\.(cfg|conf|css|csv|docx|gif|gz|html?|ini|ipynb|jpe?g|jsonl?|log|md|pdf|png|pptx|py|rst"
    r"|svg|toml|tsv|txt|xlsx|xml|ya?ml|zip)",
    re.IGNORECASE,
)

Flags = NDArray[np.bool_]
Sentences = Sequence[Sequence[str]]


class SharedGates(NamedTuple):
    """What all occurrences of a word in some texts say about it.

    log_odds: the mean of its gates   share: of this mean, beside the gate of an occurrence
    goes_on: log-odds that a name with this word goes on after it, less those of other words
    both_cases: 1 for a word that is often written without a capital, so that a capital says nothing
    capital, lower: how often it is written with and without a capital where case is informative,
        as fractions; the capitals of a word with `both_cases` do not count
    """

    share: float
    log_odds: float
    goes_on: float = 0.0
    both_cases: float = 0.0
    capital: float = 0.0
    lower: float = 0.0


_NOT_SHARED = SharedGates(0.0, 0.0)


@dataclass(frozen=True)
class WordSignals:
    """The signals of all words: (words,) each.

    casing: a `Casing`
    repeated: whether the word is rare in general and repeated nearby; None if it is unknown which
        words are rare. Such a word may be a technical term, so its lower case is uninformative
    possible: whether the word can be part of an entity: not punctuation, a number, an address or a
        word known not to be a name. If dates are entities, numbers are possible, too
    caseless: whether the word is in a script without case; None if this is not a signal
    shared: (words, 6), the values of `SharedGates`; None if gates are not shared
    in_date: whether the word is in a date expression, and so in no name; None if unknown
    """

    casing: NDArray[np.int8]
    repeated: Flags | None
    possible: Flags
    caseless: Flags | None = None
    shared: NDArray[np.float32] | None = None
    in_date: Flags | None = None

    def rows(self, index: NDArray[np.int64]) -> "WordSignals":
        """Return the signals of some words."""
        given = {name: array[index] for name, array in vars(self).items() if array is not None}
        return replace(self, **given)

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
    shared_gates: of repeated words, case-folded, if the model was adapted to texts
    date_expressions: whose words cannot be in names, if whole dates are entities
    """

    ordinary: Set[str] | None = None
    not_names: Set[str] = frozenset()
    dates: Set[str] | None = None
    strict_headlines: bool = False
    caseless: bool = False
    shared_gates: Mapping[str, SharedGates] | None = None
    date_expressions: DateExpressions | None = None

    def extract(self, sentences: Sentences) -> WordSignals:
        """Return the signals of the words of one text."""
        return self.extract_texts([sentences])

    def extract_texts(
        self, texts: Sequence[Sentences], indexed: IndexedSentences | None = None
    ) -> WordSignals:
        """Return the signals of the words of all texts; repetitions count within a text.

        indexed: the sentences of all texts, if they are indexed already
        """
        words = indexed or IndexedSentences.from_sentences(chain.from_iterable(texts))
        of_vocabulary = words.map_vocabulary(self._traits.__getitem__, np.int32)
        traits = of_vocabulary[words.word_ids]
        casing = casing_of_words(
            words,
            strict_headlines=self.strict_headlines,
            only_cased_sentences=True,
            traits=(traits & CASE_TRAITS).astype(np.int8),
        )
        repeated = None
        if self.ordinary is not None:
            rare = (of_vocabulary & _RARE) != 0
            repeated = repeated_nearby(words, rare, text_lengths=list(map(len, texts)))
            casing[repeated & (casing == Casing.LOWER)] = Casing.UNINFORMATIVE
        if self.dates is not None:
            casing[(traits & _DATE) != 0] = Casing.UNINFORMATIVE
        shared = self._shared(words)
        if shared is not None:
            casing[(shared[:, 3] > 0) & (casing == Casing.CAPITAL)] = Casing.UNINFORMATIVE
        possible = (traits & _POSSIBLE) != 0
        if self.strict_headlines:
            possible &= ~_is_markup(traits)
        in_date = None
        if self.date_expressions is not None:
            in_date = self.date_expressions.words_in_dates(words)
            possible &= ~in_date
        caseless = (traits & _CASELESS) != 0 if self.caseless else None
        return WordSignals(casing, repeated, possible, caseless, shared, in_date)

    @cached_property
    def _traits(self) -> WordCache:
        """The traits of words, which depend on the word lists of this extractor."""
        return WordCache(self._traits_of)

    def _traits_of(self, word: str) -> int:
        """Return all that `extract_texts` needs to know of a word, as bits."""
        traits = {
            _POSSIBLE: self._is_possible(word),
            _DATE: self.dates is not None and word.casefold() in self.dates,
            _RARE: self.ordinary is not None and is_rare(word, self.ordinary),
            _CASELESS: self.caseless and is_caseless(word),
        }
        own = sum(trait for trait, present in traits.items() if present)
        return case_traits(word) | _markup_traits(word) | own

    def _shared(self, words: IndexedSentences) -> NDArray[np.float32] | None:
        known = self.shared_gates
        if not known:
            return None
        values = [known.get(word.casefold(), _NOT_SHARED) for word in words.vocabulary]
        return np.array(values, dtype=np.float32).reshape(-1, len(_NOT_SHARED))[words.word_ids]

    def _is_possible(self, word: str) -> bool:
        if self.dates is not None and word[:1].isdecimal():
            return True
        return is_word(word) and word.casefold() not in self.not_names


def _is_markup(traits: NDArray[np.int32]) -> Flags:
    """Return whether each word is a tag (`<div`, `</div`), an attribute or key (`class=`), an
    identifier (`user_id`), a file name (`notes.txt`) or part of a path (`/etc/app`): (words,).
    """
    if not (traits & (_OPENING | _SLASH | _EQUALS | _IDENTIFIER)).any():
        return np.zeros(len(traits), dtype=np.bool_)
    opening, slash, equals, name, identifier = (
        (traits & each) != 0 for each in (_OPENING, _SLASH, _EQUALS, _NAME, _IDENTIFIER)
    )
    before, after = previous(opening), following(equals)
    closing = previous(slash) & np.append([False, False], opening[:-2])[: len(slash)]
    tag = name & (before | closing)
    found: Flags = identifier | tag | (name & after & ~following(following(name)))
    return found


def previous(flags: Flags) -> Flags:
    """Return the flag of the word before, False at the start: (words,)."""
    return np.append(False, flags[:-1])


def following(flags: Flags) -> Flags:
    """Return the flag of the next word, False at the end: (words,)."""
    return np.append(flags[1:], False)


def _markup_traits(word: str) -> int:
    """Return what `_is_markup` needs to know of a word, as bits."""
    name = _NAME if word.isidentifier() else 0
    is_identifier = "_" in word.strip("_") or ("." in word and _FILE_NAME.fullmatch(word))
    return _MARKS.get(word, 0) | name | (_IDENTIFIER if is_identifier else 0)
