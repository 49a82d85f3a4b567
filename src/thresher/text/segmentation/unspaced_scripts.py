"""Words of scripts that put no space between them: Han, kana, Thai, Lao, Khmer, Burmese.

This is the one place that knows of a dictionary. With `icu4py` installed a run of such letters is
split by ICU's dictionaries; without it every grapheme cluster is a word of its own.
"""

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec

import regex

# `LB=SA` is Unicode's own class of the South-East Asian scripts that need a dictionary. The
# prolonged sound mark belongs to no single script.
LETTERS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{LB=SA}\u30fc\uff70"


def words_of_run(run: str) -> list[str]:
    """The words of a run of unspaced letters, in order: `"".join(words_of_run(run)) == run`."""
    return _splitter()(run)


def knows_words() -> bool:
    """Whether such runs are split by a dictionary, and not into grapheme clusters."""
    return find_spec("icu4py") is not None


@cache
def _splitter() -> Callable[[str], list[str]]:
    try:
        from icu4py.breakers import WordBreaker  # noqa: PLC0415 (optional; only such text needs it)
    except ImportError:
        graphemes: Callable[[str], list[str]] = regex.compile(r"\X").findall
        return graphemes
    return lambda run: list(WordBreaker(run, "en"))
