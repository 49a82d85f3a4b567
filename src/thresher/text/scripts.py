"""The scripts of a text."""

import unicodedata
from collections import Counter
from functools import lru_cache

import regex

SAMPLE = 4000  # characters of a text that are looked at
_LETTER = regex.compile(r"\p{L}")


@lru_cache(maxsize=1 << 12)
def script_of(letter: str) -> str:
    """Return the script of a letter: the first word of its Unicode name, "Han" for CJK."""
    name = unicodedata.name(letter, "").partition(" ")[0]
    return "Han" if name == "CJK" else name.capitalize() or "Unnamed"


def scripts_of(text: str) -> dict[str, float]:
    """Return the fraction of letters in each script, the largest first.

    Of a long text only a sample is counted.
    """
    if text.isascii():
        return {"Latin": 1.0} if any(map(str.isalpha, text)) else {}
    counts = Counter(map(script_of, _LETTER.findall(text[:SAMPLE])))
    total = max(counts.total(), 1)
    return {name: count / total for name, count in counts.most_common()}
