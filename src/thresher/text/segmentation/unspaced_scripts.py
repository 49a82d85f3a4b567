"""Split words of scripts without spaces: Han, kana, Thai, Lao, Khmer, Burmese.

If `icu4py` is installed, a run of such letters is split by ICU's dictionaries; otherwise every
grapheme cluster becomes a word.
"""

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec

import regex

from thresher.errors import install_command

# `LB=SA` is Unicode's class of the South-East Asian scripts that need a dictionary. The prolonged
# sound marks (U+30FC, U+FF70) are used by several scripts and have to be listed.
UNSPACED_LETTERS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{LB=SA}\u30fc\uff70"

_LETTER, _UNSPACED_LETTER = regex.compile(r"\p{L}"), regex.compile(f"[{UNSPACED_LETTERS}]")
_SAMPLE = 4000  # characters of a text that are looked at
_MIN_FRACTION = 0.05  # of the letters


def split_unspaced(run: str) -> list[str]:
    """Split a run of unspaced letters into words: `"".join(split_unspaced(run)) == run`."""
    return _splitter()(run)


def has_word_dictionary() -> bool:
    """Return True if runs are split by a dictionary, not into grapheme clusters."""
    return find_spec("icu4py") is not None


def missing_dictionary(text: str) -> str | None:
    """Return a note if a text needs a dictionary of words that is not installed, else None."""
    if text.isascii() or has_word_dictionary():
        return None
    letters = len(_LETTER.findall(text[:_SAMPLE]))
    if len(_UNSPACED_LETTER.findall(text[:_SAMPLE])) <= _MIN_FRACTION * letters:
        return None
    return (
        "the text has scripts without spaces, whose words are found with ICU; without it every "
        f"character is a word: {install_command('unspaced')}"
    )


@cache
def _splitter() -> Callable[[str], list[str]]:
    try:
        from icu4py.breakers import WordBreaker  # noqa: PLC0415 (optional; only such text needs it)
    except ImportError:
        graphemes: Callable[[str], list[str]] = regex.compile(r"\X").findall
        return graphemes
    return lambda run: list(WordBreaker(run, "en"))
