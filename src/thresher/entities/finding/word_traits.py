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
# Firms whose names, and diseases whose short names, end in a possessive: "McDonald's".
_NAMED_WITH_S = frozenset(
    "mcdonald moody poor sotheby christie macy kohl denny kellogg sainsbury arby domino lowe levi "
    "harrod barclay nando wendy alzheimer parkinson crohn".split()
)
_POSSESSED = frozenset(  # nouns of institutions, places and works that are named after somebody
    "hospital church cathedral college school square theatre palace island bay stadium day "
    "register list".split()
)
_SUFFIXES = frozenset("jr sr inc llc ltd corp plc gmbh".split())
_PARTICLES_OF_PLACES = frozenset("de la le les du en sur aux upon on in der of".split())
# Names of two capitals around "and" that are one place, firm or museum.
_PAIRS = (
    "Bosnia Herzegovina  Trinidad Tobago  Antigua Barbuda  Kitts Nevis  Tomé Príncipe  "
    "Tome Principe  Turks Caicos  Wallis Futuna  Newfoundland Labrador  Procter Gamble  Rock Roll"
)
_FIRST_OF_PAIR, _SECOND_OF_PAIR = map(
    frozenset, zip(*(pair.split() for pair in _PAIRS.split("  ")), strict=True)
)
_SYLLABLE = regex.compile(  # as Korean and Chinese names are romanised
    r"(?:[bcdfghjklmnprstwyz]|ch|sh|zh|kw|hw|ts|tz|ry|my|gy|hy|ky|by|py|ny|gw)?"
    r"(?:[aeiou]{1,3}|yu|ye|yo|ya|yeo|you)(?:n|ng|k|m|l|p|t|h)?"
)
_ORDINAL = regex.compile(r"\d+(?:st|nd|rd|th)")
_NOT_COUNTED = frozenset(
    "is was has had will can does did and or with on for in from at by".split()
)

Traits = NDArray[np.int64]


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
    POSSESSIVE = auto()
    NAMED_WITH_S = auto()
    """A name with a possessive: the "McDonald" of "McDonald's"."""
    POSSESSED = auto()
    """A noun of things that are named after somebody: "St. Mary's Hospital"."""
    VERSUS = auto()
    """The "v." of a court case."""
    COMMA = auto()
    SUFFIX = auto()
    """"Jr.", "Inc."."""
    SYLLABLE = auto()
    """A syllable of a Korean or Chinese given name: "Ki" and "moon"."""
    PARTICLE_OF_PLACE = auto()
    FIRST_OF_PAIR = auto()
    """The first of two capitals around "and" in one name: "Trinidad and Tobago"."""
    SECOND_OF_PAIR = auto()
    WAR = auto()
    LETTER_I = auto()
    IN_TITLES = auto()
    """Can be in the title of a work: a capital, or a short word."""


def word_traits(sentences: IndexedSentences) -> Traits:
    """Return the traits of each word: (words,)."""
    return sentences.map_words(_TRAITS.__getitem__, np.int64)


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
        Trait.POSSESSIVE: word in ("'s", "’s"),
        Trait.NAMED_WITH_S: capital and folded in _NAMED_WITH_S,
        Trait.POSSESSED: folded in _POSSESSED,
        Trait.VERSUS: word == "v.",
        Trait.COMMA: word == ",",
        Trait.SUFFIX: capital and folded.rstrip(".") in _SUFFIXES,
        Trait.SYLLABLE: _SYLLABLE.fullmatch(folded) is not None,
        Trait.PARTICLE_OF_PLACE: word in _PARTICLES_OF_PLACES,
        Trait.FIRST_OF_PAIR: word in _FIRST_OF_PAIR,
        Trait.SECOND_OF_PAIR: word in _SECOND_OF_PAIR,
        Trait.WAR: word == "War",
        Trait.LETTER_I: word == "I",
        Trait.IN_TITLES: any(map(str.isalnum, word)) and (capital or short),
    }
    return sum(int(trait) for trait, present in traits.items() if present)


_TRAITS = WordCache(_traits)
