"""Signals of words besides their gates: casing, repetition, and whether a name is possible."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from thresher.entities.priors.casing import Casing, casing_of_words, is_capitalised, is_word
from thresher.entities.priors.word_statistics import is_repeated_nearby
from thresher.text.indexed_sentences import IndexedSentences

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
    """

    casing: NDArray[np.int8]
    repeated: Flags | None
    possible: Flags


@dataclass(frozen=True)
class SignalExtractor:
    """Extracts the signals of the words of texts.

    ordinary: words that are not rare in general, case-folded; None if unknown
    not_names: words known not to be names, case-folded
    dates: words of dates, case-folded, if dates are entities; their case is uninformative
    """

    ordinary: Set[str] | None = None
    not_names: Set[str] = frozenset()
    dates: Set[str] | None = None

    def extract(self, sentences: Sentences) -> WordSignals:
        """Return the signals of the words of one text."""
        return self.extract_texts([sentences])

    def extract_texts(self, texts: Sequence[Sentences]) -> WordSignals:
        """Return the signals of the words of all texts; repetitions count within a text."""
        sentences = texts[0] if len(texts) == 1 else chain.from_iterable(texts)
        words = IndexedSentences.from_sentences(sentences)
        casing = _casing_in_cased_sentences(words)
        repeated = None
        if self.ordinary is not None:
            text_lengths = list(map(len, texts))
            repeated = is_repeated_nearby(words, self.ordinary, text_lengths=text_lengths)
            casing[repeated & (casing == Casing.LOWER)] = Casing.UNINFORMATIVE
        if self.dates is not None:
            casing[words.map_words(self._is_date, np.bool_)] = Casing.UNINFORMATIVE
        return WordSignals(casing, repeated, words.map_words(self._is_possible, np.bool_))

    def _is_date(self, word: str) -> bool:
        return self.dates is not None and word.casefold() in self.dates

    def _is_possible(self, word: str) -> bool:
        if self.dates is not None and word[:1].isdecimal():
            return True
        return is_word(word) and word.casefold() not in self.not_names


def _casing_in_cased_sentences(sentences: IndexedSentences) -> NDArray[np.int8]:
    """Return the casing of each word; uninformative in sentences without any capital: (words,)."""
    casing = casing_of_words(sentences)
    sentence = sentences.sentence_of_word()
    capital = sentences.map_words(is_capitalised, np.bool_)
    capitals = np.bincount(sentence[capital], minlength=len(sentences))
    casing[capitals[sentence] == 0] = Casing.UNINFORMATIVE
    return casing
