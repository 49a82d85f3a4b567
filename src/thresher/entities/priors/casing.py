"""What the case of a word says, and where it says nothing."""

from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache

import numpy as np
import regex
from numpy.typing import NDArray

from thresher.text.indexed_sentences import IndexedSentences

_REMEMBERED = 1 << 16  # words; of running text few are new
_SENTENCE_STARTERS = frozenset('.!?:;"“”«»‘`…—') | {"``", "''", "...", "--"}
_ADDRESS = regex.compile(
    r"@\w | (?:https?|ftp):// | www\. | [^\s@]+@[^\s@]+\.\w | &\#?\w+; | "
    r"[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|edu|gov|io|ly|co)\b(?!\w)",
    regex.VERBOSE | regex.IGNORECASE,
)


class Casing(IntEnum):
    """What is seen of a word's case."""

    SILENT = 0
    """Grammar or style decides the case here, or the script has none."""
    LOWER = 1
    CAPITAL = 2


def casing(words: Sequence[str]) -> list[Casing]:
    """What each word's case says in a sentence: `casings` of that one."""
    return list(map(Casing, casings(IndexedSentences.from_sentences([words])).tolist()))


def casings(sentences: IndexedSentences) -> NDArray[np.int8]:
    """What each word's case says in its sentence: (words,).

    Silent are: the first word of a sentence or after a colon or quotation mark; every word of a
    headline (at least as many capitalised words as lower-case ones); words without cased letters;
    addresses.
    """
    seen: NDArray[np.int8] = sentences.map_words(_own_casing, np.int8)
    sentence = sentences.sentence_of_word()
    capital, lower = (
        np.bincount(sentence[seen == kind], minlength=len(sentences))
        for kind in (Casing.CAPITAL, Casing.LOWER)
    )
    headline = capital >= lower
    starters = sentences.map_words(_SENTENCE_STARTERS.__contains__, np.int32)
    stretch = sentence + np.cumsum(starters, dtype=np.int32)  # another after each starter
    cased = np.flatnonzero(seen)
    first = np.diff(stretch[cased], prepend=-1) > 0
    seen[cased[first]] = Casing.SILENT
    seen[headline[sentence]] = Casing.SILENT
    return seen


def is_capitalised(word: str) -> bool:
    """Whether any letter is a capital, as in "Paris", "NATO", "iPhone", "6PR"."""
    return _own_casing(word) is Casing.CAPITAL


@lru_cache(_REMEMBERED)
def is_address(word: str) -> bool:
    """Whether the word is a URL, an e-mail address, a user's handle or a character entity."""
    # Nearly all words are letters or digits alone: asking that first is several times faster.
    return not word.isalnum() and _ADDRESS.match(word) is not None


@lru_cache(_REMEMBERED)
def has_letters(word: str) -> bool:
    """Whether there is any letter in the word."""
    return any(map(str.isalpha, word))


@lru_cache(_REMEMBERED)
def _own_casing(word: str) -> Casing:
    """What is seen of a word's case by itself."""
    if is_address(word):
        return Casing.SILENT
    if word.lower() != word:
        return Casing.CAPITAL
    return Casing.LOWER if word.upper() != word else Casing.SILENT
