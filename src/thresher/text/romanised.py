"""Letters that Unicode names by their sound, in Latin letters: ኬንያ is kenya.

Syllabaries have such names: ኬ is ETHIOPIC SYLLABLE KEE, 가 is HANGUL SYLLABLE GA. Written so, the
forms of one consonant have something in common, and so have the names of one place in several
scripts. In Ethiopic AA and EE are the vowels of "father" and "they", A is a short one, and E is
mostly not said at all, so it is left out.
"""

import unicodedata
from functools import lru_cache

_ETHIOPIC_VOWELS = {"AA": "a", "EE": "e", "A": "e", "E": ""}  # the longer ones first


def romanised(text: str) -> str:
    """The text with every syllable letter spelt out, all else as it is."""
    return text if text.isascii() else "".join(map(_spelt, text))


@lru_cache(maxsize=1 << 14)
def _spelt(letter: str) -> str:
    script, _, sound = unicodedata.name(letter, "").partition(" SYLLABLE ")
    if not sound:
        return letter
    sound = sound.split()[-1]  # of GLOTTAL A the vowel
    if script == "ETHIOPIC":
        sound = _without_silent_vowels(sound)
    return sound.lower()


def _without_silent_vowels(sound: str) -> str:
    for vowel, spelling in _ETHIOPIC_VOWELS.items():
        if sound.endswith(vowel):
            consonant = sound.removesuffix(vowel)
            return consonant + spelling if consonant else vowel[0]
    return sound
