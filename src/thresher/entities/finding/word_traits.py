"""Properties of single words that matter for names (title, hyphen, ordinal, …), as bit flags.

The words that English puts inside and before names are in the lists here and in
`priors/word_lists.py`; they are closed word classes, collected without annotated text.
"""

from enum import IntFlag, auto

import numpy as np
import regex
from numpy.typing import NDArray

from thresher.entities.finding.signals import Flags
from thresher.entities.priors.casing import has_letters, is_capitalised
from thresher.entities.priors.word_lists import ARTICLES, JOINERS, TITLES
from thresher.text.indexed_sentences import IndexedSentences, WordCache

_MAX_DIGITS = 3  # of a number that belongs to the capital before it; years have four
_SHORT_WORD = 3  # letters of a lower-case word in a title: "A Tale of Two Cities"
_HYPHENS = frozenset("-–")
_QUOTATION_MARKS = frozenset(['"', "“", "”", "„", "«", "»", "``", "''"])
_INNER = JOINERS | ARTICLES | {"for"}
_PREPOSITIONS = frozenset(word for word in JOINERS if word.isalpha())
_PARTICLES = _PREPOSITIONS - {"of"}  # with a capital, they start names: "La Jolla", "Van Gogh"
_RANKS = frozenset("king queen prince princess lord lady duke duchess baron pope".split())
_AMBIGUOUS = frozenset("bishop cardinal count chief general major miss".split())
_ORDINAL = regex.compile(r"\d+(?:st|nd|rd|th)")
_NOT_COUNTED = frozenset(
    "is was has had will can does did and or with on for in from at by".split()
)

Traits = NDArray[np.int32]


class Trait(IntFlag):
    """A property of a word."""

    INNER = auto()
    """Can be inside a name and not at its edge: "of", "the"."""
    TITLE = auto()
    """A title such as "President", which names the person after it."""
    ROLE = auto()
    """A title that is hardly ever part of a name; "King" and "General" are ("General Motors")."""
    RANK = auto()
    """A title that many names start with: "Prince Edward Island", "Queen Elizabeth"."""
    PREPOSITION = auto()
    LINKED = auto()
    """The link gate was trained on it: "of", "for", "the"."""
    AMPERSAND = auto()
    OF = auto()
    FOR = auto()
    ON_OR_IN = auto()
    THE = auto()
    HYPHEN = auto()
    QUOTATION_MARK = auto()
    CAPITAL = auto()
    DIGITS = auto()
    """Starts with a digit."""
    SHORT_NUMBER = auto()
    ORDINAL = auto()
    """"2nd", "45th"."""
    LETTERS = auto()
    MONTH_NAME = auto()
    """A month that is also a first name or surname: "Theresa May"."""
    NOT_COUNTED = auto()
    """A word that is not counted by a number before it: "iPhone 15 was", not "20 people"."""
    IN_TITLES = auto()
    """Can be in the title of a work: a capital, or a short word."""


def word_traits(sentences: IndexedSentences) -> Traits:
    """Return the traits of each word: (words,)."""
    return sentences.map_words(_TRAITS.__getitem__, np.int32)


def have(traits: Traits, trait: Trait) -> Flags:
    """Return which words have a trait, or one of several: (words,)."""
    found: Flags = (traits & int(trait)) != 0
    return found


def _traits(word: str) -> int:
    folded = word.casefold()
    capital = is_capitalised(word)
    particle = capital and folded in _PARTICLES
    short = len(word) <= _SHORT_WORD or not word.isalpha()
    traits = {
        Trait.INNER: folded in _INNER and not particle,
        Trait.TITLE: folded in TITLES,
        Trait.ROLE: folded in TITLES - _RANKS - _AMBIGUOUS,
        Trait.RANK: folded in _RANKS,
        Trait.PREPOSITION: folded in _PREPOSITIONS and not particle,
        Trait.LINKED: (folded in _PREPOSITIONS and not particle) or folded in ("for", "the"),
        Trait.AMPERSAND: word == "&",
        Trait.OF: word == "of",
        Trait.FOR: word == "for",
        Trait.ON_OR_IN: word in ("on", "in"),
        Trait.THE: word == "the",
        Trait.HYPHEN: word in _HYPHENS,
        Trait.QUOTATION_MARK: word in _QUOTATION_MARKS,
        Trait.CAPITAL: capital,
        Trait.DIGITS: word[:1].isdecimal(),
        Trait.SHORT_NUMBER: word.isdecimal() and len(word) <= _MAX_DIGITS,
        Trait.ORDINAL: _ORDINAL.fullmatch(folded) is not None,
        Trait.LETTERS: has_letters(word),
        Trait.MONTH_NAME: word in ("April", "May", "June", "August"),
        Trait.NOT_COUNTED: word in _NOT_COUNTED,
        Trait.IN_TITLES: any(map(str.isalnum, word)) and (capital or short),
    }
    return sum(int(trait) for trait, present in traits.items() if present)


_TRAITS = WordCache(_traits)
