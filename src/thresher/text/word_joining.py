"""Join the words of a name again, where its text is not available any more."""

from collections.abc import Sequence

import regex

from thresher.text.segmentation.unspaced_scripts import UNSPACED_LETTERS

_QUOTES = frozenset("\"'’")  # the same character opens and closes; ’ is also an apostrophe

# Matched with two neighbouring words and a space between them.
_NO_SPACE = regex.compile(
    rf"""
      [-‐‑–/]+\ .+ | .+\ [-‐‑–/]+                        # Anna-Lena  TCP/IP  Blink-182
    | .+\ (?: ['’](?i: s | m | d | re | ve | ll ) | (?i: n['’]t ) )
    | .+\ [.,;:!?…)\]}}%”»™®+]+
    | [(\[{{“«„¿¡$€£]\ .+
    | .*[{UNSPACED_LETTERS}]\ [{UNSPACED_LETTERS}].*
    """,
    regex.VERSION1 | regex.VERBOSE | regex.DOTALL,
)


def join_words(words: Sequence[str]) -> str:
    """Return a name as it is usually written, from the words that `segment` splits it into.

    >>> join_words(["Anna", "-", "Lena", "Levi", "'s"])
    "Anna-Lena Levi's"
    """
    joined = ""
    quote = previous = ""  # the quotation mark that is open, and the word before
    for index, word in enumerate(words):
        has_space = bool(joined) and not _NO_SPACE.fullmatch(f"{previous} {word}")
        has_space = has_space and previous != quote and not _is_around_ampersand(words, index)
        if word in _QUOTES:
            is_possessive = word != '"' and not quote and previous.endswith("s")  # Years' War
            has_space = has_space and not quote and not is_possessive
            quote = "" if quote or is_possessive else word
        joined += f" {word}" if has_space else word
        previous = word
    return joined


def _is_around_ampersand(words: Sequence[str], index: int) -> bool:
    """Return True if the word, or the one before it, is the ampersand of an abbreviation (AT&T)."""
    place = index if words[index] == "&" else index - 1
    if words[place] != "&" or not 0 < place < len(words) - 1:
        return False
    before, after = words[place - 1], words[place + 1]
    return before.isupper() and after.isupper() and 1 in (len(before), len(after))
