"""Split words of scripts without spaces: Han, kana, Thai, Lao, Khmer, Burmese.

If `icu4py` is installed, a run of such letters is split by ICU's dictionaries; otherwise every
grapheme cluster becomes a word.
"""

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec

import regex

# `LB=SA` is Unicode's class of the South-East Asian scripts that need a dictionary. The prolonged
# sound marks (U+30FC, U+FF70) are used by several scripts and have to be listed.
UNSPACED_LETTERS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{LB=SA}\u30fc\uff70"


def split_unspaced(run: str) -> list[str]:
    """Split a run of unspaced letters into words: `"".join(split_unspaced(run)) == run`."""
    return _splitter()(run)


def has_word_dictionary() -> bool:
    """Return True if runs are split by a dictionary, not into grapheme clusters."""
    return find_spec("icu4py") is not None


@cache
def _splitter() -> Callable[[str], list[str]]:
    try:
        from icu4py.breakers import WordBreaker  # noqa: PLC0415 (optional; only such text needs it)
    except ImportError:
        graphemes: Callable[[str], list[str]] = regex.compile(r"\X").findall
        return graphemes
    return lambda run: list(WordBreaker(run, "en"))
