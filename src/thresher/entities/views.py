"""Several weak views of one hidden variable, and how far to trust each.

The gate reads meaning, the case of a word is seen, and so is whether a rare word comes again
nearby. None is sure. Their trust is estimated on raw text alone: where the gate is all but
certain (the *anchors*), the hidden label is known without asking anyone, and the other views can
be counted against it. What a view then adds to a word's log-odds is

    ⅓ log P(value | entity) / P(value | other)

a third, because there are three views and they share most of what they know. An encoder that was
trained on the same text is no view of its own, and cannot tell which words are common in general,
so neither is repetition: case is then alone, and its log ratio counts whole.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.entities.casing import (
    Casing,
    casing,
    has_letters,
    is_address,
    is_capitalised,
)
from thresher.entities.statistics import repeated

SURELY, SURELY_NOT = 0.85, 0.03  # gates above and below are anchors
LEAST_ANCHORS = 30
_VIEWS = 3

Scores = NDArray[np.float32]


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
    repeated: NDArray[np.bool_] | None
    possible: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        sentences: Sequence[Sequence[str]],
        *,
        ordinary: Set[str] | None,
        not_names: Set[str],
        dates: Set[str] | None = None,
    ) -> "Observations":
        """Look at every word of the sentences of a text.

        ordinary: words that are not rare in general, where that is known
        dates: words of dates, where dates are entities; as of terms, lower case says nothing of
        them
        """
        return cls.of_texts([sentences], ordinary=ordinary, not_names=not_names, dates=dates)

    @classmethod
    def of_texts(
        cls,
        texts: Sequence[Sequence[Sequence[str]]],
        *,
        ordinary: Set[str] | None,
        not_names: Set[str],
        dates: Set[str] | None = None,
    ) -> "Observations":
        """`of` for one text after the other; a word comes again only in its own."""
        every = [words for sentences in texts for words in sentences]
        case = np.array([seen for words in every for seen in _visible_casing(words)], dtype=np.int8)
        again = None
        if ordinary is not None:
            again = np.array(
                [seen for sentences in texts for seen in repeated(sentences, ordinary)],
                dtype=np.bool_,
            )
            case[again & (case == Casing.LOWER)] = Casing.SILENT
        if dates is not None:
            known = [word.casefold() in dates for words in every for word in words]
            case[np.array(known, dtype=np.bool_)] = Casing.SILENT
        return cls(
            casing=case,
            repeated=again,
            possible=np.array(
                [
                    _possible(word, not_names, numbers=dates is not None)
                    for words in every
                    for word in words
                ],
                dtype=np.bool_,
            ),
        )


@dataclass(frozen=True)
class Trust:
    """What each observation adds to a word's log-odds of being an entity."""

    capital: float = 0.0
    lower: float = 0.0
    repeated: float = 0.0

    @classmethod
    def estimate(cls, gate: Scores, seen: Observations) -> "Trust":
        """From gates and observations of raw text. Views that the anchors cannot judge get 0."""
        cased = seen.possible & (seen.casing != Casing.SILENT)
        capital = seen.casing == Casing.CAPITAL
        of_case = _log_ratio(gate, capital, among=cased), _log_ratio(gate, ~capital, among=cased)
        if seen.repeated is None:
            return cls(*of_case)
        repeated = _log_ratio(gate, seen.repeated, among=seen.possible)
        return cls(*(ratio / _VIEWS for ratio in (*of_case, repeated)))

    def combine(self, gate: Scores, seen: Observations) -> Scores:
        """The probability that each word belongs to an entity, all views taken together."""
        odds = np.log(np.clip(gate, 1e-6, 1 - 1e-6)) - np.log1p(-np.clip(gate, 1e-6, 1 - 1e-6))
        odds += np.where(seen.casing == Casing.CAPITAL, self.capital, 0.0)
        odds += np.where(seen.casing == Casing.LOWER, self.lower, 0.0)
        if seen.repeated is not None:
            odds += np.where(seen.repeated, self.repeated, 0.0)
        return np.where(seen.possible, 1 / (1 + np.exp(-odds)), 0.0).astype(np.float32)


def _log_ratio(gate: Scores, value: NDArray[np.bool_], *, among: NDArray[np.bool_]) -> float:
    """log P(value | sure entity) / P(value | surely none), with add-one counts."""
    entity, other = among & (gate >= SURELY), among & (gate <= SURELY_NOT)
    if entity.sum() < LEAST_ANCHORS or other.sum() < LEAST_ANCHORS:
        return 0.0
    given_entity = (value[entity].sum() + 1) / (entity.sum() + 2)
    given_other = (value[other].sum() + 1) / (other.sum() + 2)
    return float(np.log(given_entity / given_other))


def _visible_casing(words: Sequence[str]) -> Sequence[Casing]:
    """The case of each word; silent where no word has a capital, since then nobody set any."""
    if any(map(is_capitalised, words)):
        return casing(words)
    return [Casing.SILENT] * len(words)


def _possible(word: str, not_names: Set[str], *, numbers: bool) -> bool:
    if numbers and word[:1].isdecimal():
        return True
    return has_letters(word) and not is_address(word) and word.casefold() not in not_names
