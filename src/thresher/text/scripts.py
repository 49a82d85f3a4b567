"""The scripts of a text, and whether its language is English."""

import unicodedata
from collections import Counter
from functools import lru_cache

import regex

SAMPLE = 4000  # characters of a text that are looked at
MIN_ENGLISH = 0.12  # of the words of English text are among the words below; usually 0.3 to 0.5
_LETTER = regex.compile(r"\p{L}")
_LATIN_WORD = regex.compile(r"\p{Latin}+")
# Frequent words of English, and of some other languages with the same letters.
_ENGLISH = frozenset(
    "the of and to that is it with his from this are which were they she you their been has when "
    "who will more would there what about my could than into your our out its other only after "
    "also these any before was not but I he in on as be by for at we or an have all".split()
)
_OTHER = frozenset(
    "de la el los las que y en un una del le les des et est il au du dans pas pour sur di che non "
    "per con sono o os da do na em um uma para der die das und den von zu mit ist nicht ein eine "
    "im auf het een van ik niet zijn er met og af til det på som har var jeg ikke att och är w z "
    "nie się jest je se za ve bir bu ya wa kwa ni katika dan yang ang ng sa mga han hun så "
    "vi i".split()
)


@lru_cache(maxsize=1 << 12)
def script_of(letter: str) -> str:
    """Return the script of a letter: the first word of its Unicode name, "Han" for CJK."""
    name = unicodedata.name(letter, "").partition(" ")[0]
    return "Han" if name == "CJK" else name.capitalize() or "Unnamed"


def scripts_of(text: str) -> dict[str, float]:
    """Return the fraction of letters in each script, the largest first; of a sample if long."""
    if text.isascii():
        return {"Latin": 1.0} if any(map(str.isalpha, text)) else {}
    counts = Counter(map(script_of, _LETTER.findall(text[:SAMPLE])))
    total = max(counts.total(), 1)
    return {name: count / total for name, count in counts.most_common()}


def is_english(text: str) -> bool:
    """Return True if many words of the text, or of a sample of it, are frequent English words.

    They must also be more than the frequent words of other languages.
    """
    # A capital "I" is English; "i" is a frequent word in Danish, Italian and Polish.
    words = [word if word == "I" else word.lower() for word in _LATIN_WORD.findall(text[:SAMPLE])]
    if 2 * sum(map(len, words)) < len(_LETTER.findall(text[:SAMPLE])):
        return False
    english = sum(word in _ENGLISH for word in words)
    return english >= MIN_ENGLISH * len(words) and english > sum(word in _OTHER for word in words)
