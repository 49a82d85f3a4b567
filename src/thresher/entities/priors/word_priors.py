"""Priors: for each word of raw sentences the probability that it is part of an entity.

A prior returns one number per word; NaN means that it gives no probability. Priors are tried in
order: for each word the first one that gives a probability is used (`first_probability`).

To add a prior that users can choose by name:
1. write a class with the method `probabilities` (see `Prior`), here or in a module of its own;
2. add its name to `PriorName` in entities/choices.py;
3. add one line to `PRIORS` in prior_knowledge.py that builds it;
4. add a line to `EVERY_PRIOR` in tests/entities/priors/test_word_priors.py and to the table in
   docs/options.md.
Rates that users may change are fields of `EntitySettings`; other constants are in the module of the
prior. The chosen priors are used only for words without a probability from dates, word lists and
expected rates (see `PriorKnowledge`).
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thresher.entities.choices import WordFeature
from thresher.entities.priors.casing import (
    Casing,
    casing_of_words,
    has_letters,
    is_capitalised,
    is_word,
)
from thresher.entities.priors.word_statistics import WordStatistics, is_repeated_nearby
from thresher.errors import InputError
from thresher.maths.expectations import maximum_entropy
from thresher.text.indexed_sentences import IndexedSentences
from thresher.validation import require_choice

Sentences = Sequence[Sequence[str]]
Probabilities = NDArray[np.float32]
UNKNOWN = float("nan")
MIN_LABEL_GATE, MAX_OTHER_GATE = 0.85, 0.1  # gates beyond these are pseudo-labels
MAX_RARE_COUNT = 3  # occurrences of a rare word in the text


class Prior(Protocol):
    """Gives the words of raw sentences a probability of being part of an entity."""

    def probabilities(self, sentences: Sentences) -> Probabilities:
        """Return one probability per word, NaN where the prior gives none: (words,)."""
        ...


def first_probability(priors: Sequence[Prior], sentences: Sentences) -> Probabilities:
    """Return for each word the probability of the first prior that gives one: (words,)."""
    indexed = IndexedSentences.from_sentences(sentences)
    probabilities = np.full(len(indexed.word_ids), UNKNOWN, dtype=np.float32)
    for prior in priors:
        unknown = np.isnan(probabilities)
        probabilities[unknown] = prior.probabilities(indexed)[unknown]
    return probabilities


@dataclass(frozen=True)
class CasingPrior:
    """A word is likely an entity if it is capitalised where grammar does not require it.

    Where case is uninformative, the probability is the rate of capitals of the same word elsewhere
    in the text, if it occurred there at least three times. A lower-case word that is mostly
    capitalised elsewhere gets no probability, since some writers drop capitals.
    """

    statistics: WordStatistics

    def probabilities(self, sentences: Sentences) -> Probabilities:
        """Return 1 for a capital, 0 for lower case, the word's rate where case is uninformative."""
        indexed = IndexedSentences.from_sentences(sentences)
        values = (self._probability(word, case) for case in Casing for word in indexed.vocabulary)
        table = np.fromiter(values, np.float32).reshape(len(Casing), len(indexed.vocabulary))
        return table[casing_of_words(indexed), indexed.word_ids]

    def _probability(self, word: str, casing: Casing) -> float:
        if casing is Casing.CAPITAL:
            return 1.0
        rate = self.statistics.capital_rate(word.casefold())
        if casing is Casing.LOWER:
            return UNKNOWN if rate is not None and rate > 0.5 else 0.0
        return UNKNOWN if rate is None else rate


@dataclass(frozen=True)
class WordListPrior:
    """Gives the words of a list, case-folded, one probability, and no probability to others."""

    words: Set[str]
    probability: float

    def probabilities(self, sentences: Sentences) -> Probabilities:
        """Return the probability for a word of the list, in any case."""
        return _map_words(
            sentences, lambda word: self.probability if word.casefold() in self.words else UNKNOWN
        )


@dataclass(frozen=True)
class LetterlessPrior:
    """Punctuation, numbers and addresses are not entities."""

    def probabilities(self, sentences: Sentences) -> Probabilities:
        """Return 0 for a word without letters and for an address."""
        return _map_words(sentences, lambda word: UNKNOWN if is_word(word) else 0.0)


@dataclass(frozen=True)
class RepetitionPrior:
    """A lower-case word that is rare in general and repeated nearby may be a technical term.

    rate: the probability of such a word
    """

    statistics: WordStatistics
    rate: float
    _ordinary: frozenset[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ordinary", self.statistics.ordinary_words())

    def probabilities(self, sentences: Sentences) -> Probabilities:
        """Return `rate` for a bursty word without a capital."""
        indexed = IndexedSentences.from_sentences(sentences)
        probabilities = _map_words(
            indexed, lambda word: UNKNOWN if is_capitalised(word) else self.rate
        )
        probabilities[~is_repeated_nearby(indexed, self._ordinary)] = UNKNOWN
        return probabilities


@dataclass(frozen=True)
class RarityPrior:
    """Gives words that occur at most three times in the text one probability, and others 0.

    rate: the probability of a rare word
    """

    statistics: WordStatistics
    rate: float

    def probabilities(self, sentences: Sentences) -> Probabilities:
        """Return `rate` for a rare word with letters, 0 for others."""
        return _map_words(
            sentences, lambda word: self.rate if _is_rare(word, self.statistics) else 0.0
        )


@dataclass(frozen=True)
class PseudoLabelPrior:
    """Uses confident gates of another finder as labels: 1 above .85, 0 below .1.

    gates: (words,), P(open) of each word of the sentences; NaN gives no probability
    """

    gates: NDArray[np.float32]

    def probabilities(self, sentences: Sentences) -> Probabilities:
        """Return 1 or 0 where the other finder is confident."""
        if len(self.gates) != sum(map(len, sentences)):
            words = sum(map(len, sentences))
            raise InputError(
                f"there must be one gate per word: {words} words, {len(self.gates)} gates"
            )
        labels = np.where(self.gates > MIN_LABEL_GATE, 1.0, UNKNOWN)
        return np.where(self.gates < MAX_OTHER_GATE, 0.0, labels).astype(np.float32)


@dataclass(frozen=True)
class ExpectationPrior:
    """The maximum-entropy distribution with the expected rates.

    rates: P(entity | feature) for some of the features in `WordFeature`
    selected: the overall rate of entity words, if known
    """

    statistics: WordStatistics
    rates: Mapping[str, float]
    selected: float | None = None

    def __post_init__(self) -> None:
        for name in sorted(self.rates):
            require_choice("rates", name, WordFeature)

    def probabilities(self, sentences: Sentences) -> Probabilities:
        """Return the maximum-entropy probability of each word."""
        features = _word_features(IndexedSentences.from_sentences(sentences), self.statistics)
        solution = maximum_entropy(features, self.rates, overall=self.selected)
        return solution.probability.numpy().astype(np.float32)


def _word_features(sentences: IndexedSentences, statistics: WordStatistics) -> dict[str, Tensor]:
    """Return for each feature whether each word has it: (words,)."""
    casing = casing_of_words(sentences)
    columns = {
        WordFeature.CAPITALISED: casing == Casing.CAPITAL,
        WordFeature.LOWER: casing == Casing.LOWER,
        WordFeature.RARE: sentences.map_words(lambda word: _is_rare(word, statistics), np.bool_),
        WordFeature.REPEATED: is_repeated_nearby(sentences, statistics.ordinary_words()),
    }
    return {name: torch.from_numpy(column) for name, column in columns.items()}


def _is_rare(word: str, statistics: WordStatistics) -> bool:
    return has_letters(word) and statistics.count[word.casefold()] <= MAX_RARE_COUNT


def _map_words(sentences: Sentences, probability: Callable[[str], float]) -> Probabilities:
    """Return the probability of each word where it depends on the word alone: (words,)."""
    return IndexedSentences.from_sentences(sentences).map_words(probability, np.float32)
