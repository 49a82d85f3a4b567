"""Priors: from raw sentences, for each word the probability that it is an entity, or no opinion.

A prior returns one number per word, in order; NaN is "no opinion". The first prior of a sequence
that has an opinion of a word decides (`first_opinion`).
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from thresher.entities.priors.casing import Casing, casings, has_letters, is_address, is_capitalised
from thresher.entities.priors.word_statistics import WordStatistics, repeated
from thresher.maths.expectations import maximum_entropy
from thresher.text.indexed_sentences import IndexedSentences

Opinions = NDArray[np.float32]
NO_OPINION = float("nan")
RARE = 3  # times in a text


class Prior(Protocol):
    """Reads raw sentences, each a sequence of words."""

    def opinions(self, sentences: Sequence[Sequence[str]]) -> Opinions:
        """One probability per word, NaN for no opinion: (words,)."""
        ...


@dataclass(frozen=True)
class CasingPrior:
    """A word is likely an entity if it is capitalised where grammar does not force it.

    Where its case says nothing, its own rate of capitals elsewhere in the text speaks for it, if
    it was seen there three times. A lower-case word that is mostly capitalised elsewhere is left
    open: hasty writers drop capitals.
    """

    statistics: WordStatistics

    def opinions(self, sentences: Sequence[Sequence[str]]) -> Opinions:
        """1 for a capital, 0 for none, the word's own rate where its case says nothing."""
        numbered = IndexedSentences.from_sentences(sentences)
        each = (self._opinion(word, seen) for seen in Casing for word in numbered.vocabulary)
        opinions = np.fromiter(each, np.float32).reshape(len(Casing), len(numbered.vocabulary))
        return opinions[casings(numbered), numbered.word_ids]

    def _opinion(self, word: str, seen: Casing) -> float:
        if seen is Casing.CAPITAL:
            return 1.0
        rate = self.statistics.capital_rate(word.casefold())
        if seen is Casing.LOWER:
            return NO_OPINION if rate is not None and rate > 0.5 else 0.0
        return NO_OPINION if rate is None else rate


@dataclass(frozen=True)
class WordListPrior:
    """Words known beforehand: those of the list get `rate`, of the others nothing is said."""

    words: Set[str]
    rate: float

    def opinions(self, sentences: Sequence[Sequence[str]]) -> Opinions:
        """`rate` for a word of the list, in any case."""
        return _of_each(
            sentences, lambda word: self.rate if word.casefold() in self.words else NO_OPINION
        )


@dataclass(frozen=True)
class LetterlessPrior:
    """Punctuation, numbers and addresses are not entities."""

    def opinions(self, sentences: Sequence[Sequence[str]]) -> Opinions:
        """0 for a word without letters and for an address."""
        return _of_each(
            sentences,
            lambda word: NO_OPINION if has_letters(word) and not is_address(word) else 0.0,
        )


@dataclass(frozen=True)
class RepetitionPrior:
    """A word in lower case that is rare in general and comes again nearby may be a term."""

    statistics: WordStatistics
    rate: float
    _ordinary: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ordinary", self.statistics.ordinary_words())

    def opinions(self, sentences: Sequence[Sequence[str]]) -> Opinions:
        """`rate` for a bursty word without a capital."""
        numbered = IndexedSentences.from_sentences(sentences)
        opinions = _of_each(
            numbered, lambda word: NO_OPINION if is_capitalised(word) else self.rate
        )
        opinions[~repeated(numbered, self._ordinary)] = NO_OPINION
        return opinions


@dataclass(frozen=True)
class RarityPrior:
    """Words seen at most three times in the text get `rate`; all others 0."""

    statistics: WordStatistics
    rate: float

    def opinions(self, sentences: Sequence[Sequence[str]]) -> Opinions:
        """`rate` for a rare word with letters."""
        return _of_each(
            sentences, lambda word: self.rate if _is_rare(word, self.statistics) else 0.0
        )


FEATURES = ("capitalised", "lower", "rare", "repeated")


@dataclass(frozen=True)
class ExpectationPrior:
    """Stated rates, met by the distribution of largest entropy.

    rates: P(entity | feature) for some of "capitalised", "lower", "rare", "repeated"
    selected: the overall rate of entity words, if one is stated
    """

    statistics: WordStatistics
    rates: Mapping[str, float]
    selected: float | None = None

    def __post_init__(self) -> None:
        unknown = sorted(set(self.rates) - set(FEATURES))
        if unknown:
            raise ValueError(f"unknown feature {unknown[0]!r}; choose from {', '.join(FEATURES)}")

    def opinions(self, sentences: Sequence[Sequence[str]]) -> Opinions:
        """The maximum-entropy probability of each word."""
        features = _features(IndexedSentences.from_sentences(sentences), self.statistics)
        solution = maximum_entropy(features, self.rates, overall=self.selected)
        return solution.probability.numpy().astype(np.float32)


def first_opinion(priors: Sequence[Prior], sentences: Sequence[Sequence[str]]) -> Opinions:
    """The opinion of the first prior that has one, for each word."""
    numbered = IndexedSentences.from_sentences(sentences)
    opinions = np.full(len(numbered.word_ids), NO_OPINION, dtype=np.float32)
    for prior in priors:
        silent = np.isnan(opinions)
        opinions[silent] = prior.opinions(numbered)[silent]
    return opinions


def _features(sentences: IndexedSentences, statistics: WordStatistics) -> dict[str, torch.Tensor]:
    seen = casings(sentences)
    columns = {
        "capitalised": seen == Casing.CAPITAL,
        "lower": seen == Casing.LOWER,
        "rare": sentences.map_words(lambda word: _is_rare(word, statistics), np.bool_),
        "repeated": repeated(sentences, statistics.ordinary_words()),
    }
    return {name: torch.from_numpy(column) for name, column in columns.items()}


def _is_rare(word: str, statistics: WordStatistics) -> bool:
    return has_letters(word) and statistics.count[word.casefold()] <= RARE


def _of_each(sentences: Sequence[Sequence[str]], opinion: Callable[[str], float]) -> Opinions:
    """The opinion of each word, where that is all it depends on."""
    return IndexedSentences.from_sentences(sentences).map_words(opinion, np.float32)
