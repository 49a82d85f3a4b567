"""The case of words, and where it indicates names."""

from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache

import numpy as np
import regex
from numpy.typing import NDArray

from thresher.text.indexed_sentences import IndexedSentences

_CACHE_SIZE = 1 << 16  # words; few words of running text are new
_SENTENCE_STARTERS = frozenset('.!?:;"“”«»‘`…—') | {"``", "''", "...", "--"}
_ADDRESS = regex.compile(
    r"@\w | (?:https?|ftp):// | www\. | [^\s@]+@[^\s@]+\.\w | &\#?\w+; | "
    r"[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|edu|gov|io|ly|co)\b(?!\w)",
    regex.VERBOSE | regex.IGNORECASE,
)


class Casing(IntEnum):
    """The case of a word, where the writer was free to choose it."""

    UNINFORMATIVE = 0
    """Grammar or style decides the case here, or the script has no case."""
    LOWER = 1
    CAPITAL = 2


def casing_of_sentence(words: Sequence[str]) -> list[Casing]:
    """Return the casing of each word of a sentence, as `casing_of_words` does."""
    return list(map(Casing, casing_of_words(IndexedSentences.from_sentences([words])).tolist()))


# Bits of `case_traits`; the two lowest are the `Casing` of the word itself.
_CASING, _CONTENT, _STARTER = 0b11, 0b100, 0b1000
CASE_TRAITS = _CASING | _CONTENT | _STARTER
_LONG_WORD = 5  # letters
_HEADLINE_WORDS = frozenset(  # short words that English headlines leave in lower case
    "a an the and but or nor for so yet of in on at to by with from as off up out over into onto "
    "upon per via vs vs. than if 's ’s n't s".split()
)


def casing_of_words(
    sentences: IndexedSentences,
    *,
    strict_headlines: bool = False,
    only_cased_sentences: bool = False,
    traits: NDArray[np.int8] | None = None,
) -> NDArray[np.int8]:
    """Return the `Casing` of each word: (words,).

    Uninformative are: the first word of a sentence or after a colon or quotation mark; every word
    of a headline (at least as many capitalised words as lower-case ones); words without cased
    letters; addresses.

    strict_headlines: a headline, moreover, has no lower-case words but short ones such as "of" and
        "the", so that a short sentence with several names is none: "Ann Lee met Bob Ray in Rome"
    only_cased_sentences: in a sentence without any capital, every word is uninformative
    traits: (words,), the `case_traits` of each word, if they are known already
    """
    if traits is None:
        traits = sentences.map_words(case_traits, np.int8)
    casing: NDArray[np.int8] = traits & _CASING
    sentence = sentences.sentence_of_word()
    capital, lower = (
        np.bincount(sentence[casing == kind], minlength=len(sentences))
        for kind in (Casing.CAPITAL, Casing.LOWER)
    )
    has_no_case = capital >= lower  # a headline
    if strict_headlines:
        content = traits & (_CONTENT | _CASING) == _CONTENT | Casing.LOWER
        has_no_case &= np.bincount(sentence[content], minlength=len(sentences)) == 0
    if only_cased_sentences:
        has_no_case |= capital == 0
    starters = (traits & _STARTER) != 0
    clause = sentence + np.cumsum(starters, dtype=np.int32)  # a starter begins a new clause
    cased = np.flatnonzero(casing)
    is_first = np.diff(clause[cased], prepend=-1) > 0
    casing[cased[is_first]] = Casing.UNINFORMATIVE
    casing[has_no_case[sentence]] = Casing.UNINFORMATIVE
    return casing


def is_capitalised(word: str) -> bool:
    """Return True if any letter is a capital, as in "Paris", "NATO", "iPhone", "6PR"."""
    return _casing_of_word(word) is Casing.CAPITAL


@lru_cache(_CACHE_SIZE)
def is_address(word: str) -> bool:
    """Return True for a URL, an e-mail address, a user's handle or a character entity."""
    # Nearly all words consist of letters or digits; checking that first is several times faster.
    return not word.isalnum() and _ADDRESS.match(word) is not None


@lru_cache(_CACHE_SIZE)
def has_letters(word: str) -> bool:
    """Return True if any character is a letter."""
    return any(map(str.isalpha, word))


def is_caseless(word: str) -> bool:
    """Return True for a word in a script without case: its letters have no capital form."""
    return has_letters(word) and word.lower() == word.upper()


@lru_cache(_CACHE_SIZE)
def is_word(word: str) -> bool:
    """Return True if the word has letters and is no address: not punctuation, not a number."""
    return has_letters(word) and not is_address(word)


@lru_cache(_CACHE_SIZE)
def _casing_of_word(word: str) -> Casing:
    """Return the casing of a word regardless of its context."""
    if is_address(word):
        return Casing.UNINFORMATIVE
    if word.lower() != word:
        return Casing.CAPITAL
    return Casing.LOWER if word.upper() != word else Casing.UNINFORMATIVE


@lru_cache(_CACHE_SIZE)
def case_traits(word: str) -> int:
    """Return what `casing_of_words` needs to know of a word, as bits."""
    is_short = word in _HEADLINE_WORDS or len(word) == 1 or not word.isalpha()
    content = 0 if is_short and len(word) < _LONG_WORD else _CONTENT
    return _casing_of_word(word) | content | (_STARTER if word in _SENTENCE_STARTERS else 0)
