"""Compare names: different spellings of one name, and a surname with the full name."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from thresher.entities.priors.word_lists import ARTICLES, JOINERS, TITLES

_POSSESSIVE = re.compile(r"(?:['’]s|(?<=s)['’])$", re.IGNORECASE)
_EDGES = " \t\r\n\"“”„'‘’«»()[]{}.,;:!?…-–—*_"
_NOT_LATIN = re.compile(r"[^\u0000-\u024f\u1e00-\u1eff]")

# A last word names something else than the whole if one of these comes before it: New York,
# South Korea, Lake Geneva, University of Texas.
_NOT_FIRST_NAMES = JOINERS | frozenset(
    "new old north south east west northern southern eastern western central upper lower great "
    "little big saint st st. san santa são sao los las el lake mount mt mt. port cape fort river "
    "bay isle island cape the and for in at on real air radio team club fc".split()
)
_PERSON = frozenset(["person", "people", "per"])
_MIN_LETTERS = 3  # of a surname that is matched with a full name


def name_key(name: str) -> str:
    """Return what all spellings of a name have in common: case, articles, accents … are removed.

    >>> name_key("The Café’s") == name_key("CAFE")
    True
    """
    words = _without_accents(name.casefold()).split()
    while len(words) > 1 and words[0] in ARTICLES:
        words.pop(0)
    key = _POSSESSIVE.sub("", " ".join(words).strip(_EDGES.replace("'", "").replace("’", "")))
    return key.strip(_EDGES) or name


def _without_accents(text: str) -> str:
    """Remove the accents of Latin letters; in other scripts, marks distinguish letters."""
    if text.isascii() or _NOT_LATIN.search(unicodedata.normalize("NFC", text)):
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(each for each in decomposed if not unicodedata.combining(each))


@dataclass(frozen=True)
class NameInDocument:
    """A name in a document: the number of its first mention, and its kind if it has one."""

    first: int
    kind: str | None


def full_names(names: Mapping[str, NameInDocument]) -> dict[str, str]:
    """Return the full name for each surname of a document, where there is exactly one.

    A surname is the last word, or the last words, of a person's name. If kinds are not known, the
    full name must also come first in the document, and must not look like that of a place.

    names: the keys of all names of the document
    """
    by_last_word: dict[str, list[str]] = {}
    for name in names:
        by_last_word.setdefault(name.rpartition(" ")[2], []).append(name)
    found = {}
    for short in names:
        longer = by_last_word[short.rpartition(" ")[2]]
        full = _longest([name for name in longer if _is_full_name(name, short, names)])
        if full is not None:
            found[short] = full
    return found


def _is_full_name(full: str, short: str, names: Mapping[str, NameInDocument]) -> bool:
    if not full.endswith(f" {short}") or sum(map(str.isalpha, short)) < _MIN_LETTERS:
        return False
    kinds = {kind for kind in (names[full].kind, names[short].kind) if kind is not None}
    if kinds:
        return all(kind.casefold() in _PERSON for kind in kinds)
    first_names = full.removesuffix(f" {short}").split()
    return (
        names[full].first < names[short].first
        and not _NOT_FIRST_NAMES.intersection(first_names)
        and not any(character.isdigit() for character in full)
    )


def _longest(names: Iterable[str]) -> str | None:
    """Return the longest name if all others are a part of it, such as one without a title."""
    ordered = sorted(names, key=len)
    if not ordered:
        return None
    without_titles = {_without_titles(name) for name in ordered}
    is_one_name = len(without_titles) == 1 or all(
        longer.endswith(f" {name}") for name, longer in pairwise(ordered)
    )
    return ordered[-1] if is_one_name else None


def _without_titles(name: str) -> str:
    words = name.split()
    while len(words) > 1 and words[0] in TITLES:
        words.pop(0)
    return " ".join(words)
