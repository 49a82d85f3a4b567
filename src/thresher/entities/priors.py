"""Priors: from raw sentences, for each word the probability that it is an entity, or no opinion.

A prior returns one number per word, in order; NaN is "no opinion". The first prior of a sequence
that has an opinion of a word decides (`first_opinion`).
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from thresher.entities.casing import Casing, casing, has_letters, is_address, is_capitalised
from thresher.entities.statistics import WordStatistics, repeated
from thresher.maths.expectations import maximum_entropy

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
        return _flat(
            self._opinion(word, seen)
            for words in sentences
            for word, seen in zip(words, casing(words), strict=True)
        )

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
        return _flat(
            self.rate if word.casefold() in self.words else NO_OPINION
            for words in sentences
            for word in words
        )


@dataclass(frozen=True)
class LetterlessPrior:
    """Punctuation, numbers and addresses are not entities."""

    def opinions(self, sentences: Sequence[Sequence[str]]) -> Opinions:
        """0 for a word without letters and for an address."""
        return _flat(
            NO_OPINION if has_letters(word) and not is_address(word) else 0.0
            for words in sentences
            for word in words
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
        words = [word for sentence in sentences for word in sentence]
        return _flat(
            self.rate if again and not is_capitalised(word) else NO_OPINION
            for word, again in zip(words, repeated(sentences, self._ordinary), strict=True)
        )


@dataclass(frozen=True)
class RarityPrior:
    """Words seen at most three times in the text get `rate`; all others 0."""

    statistics: WordStatistics
    rate: float

    def opinions(self, sentences: Sequence[Sequence[str]]) -> Opinions:
        """`rate` for a rare word with letters."""
        return _flat(
            self.rate if _is_rare(word, self.statistics) else 0.0
            for words in sentences
            for word in words
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
        features = _features(sentences, self.statistics)
        solution = maximum_entropy(features, self.rates, overall=self.selected)
        return solution.probability.numpy().astype(np.float32)


def first_opinion(priors: Sequence[Prior], sentences: Sequence[Sequence[str]]) -> Opinions:
    """The opinion of the first prior that has one, for each word."""
    opinions = np.full(sum(map(len, sentences)), NO_OPINION, dtype=np.float32)
    for prior in priors:
        silent = np.isnan(opinions)
        opinions[silent] = prior.opinions(sentences)[silent]
    return opinions


def _features(
    sentences: Sequence[Sequence[str]], statistics: WordStatistics
) -> dict[str, torch.Tensor]:
    seen = [each for words in sentences for each in casing(words)]
    words = [word for sentence in sentences for word in sentence]
    columns = {
        "capitalised": [each is Casing.CAPITAL for each in seen],
        "lower": [each is Casing.LOWER for each in seen],
        "rare": [_is_rare(word, statistics) for word in words],
        "repeated": repeated(sentences, statistics.ordinary_words()),
    }
    return {name: torch.tensor(column, dtype=torch.bool) for name, column in columns.items()}


def _is_rare(word: str, statistics: WordStatistics) -> bool:
    return has_letters(word) and statistics.count[word.casefold()] <= RARE


def _flat(opinions: Iterable[float]) -> Opinions:
    return np.fromiter(opinions, dtype=np.float32)
