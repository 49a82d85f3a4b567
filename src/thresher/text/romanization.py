"""Letters that Unicode names by their sound, in Latin letters: ኬንያ is kenya.

Syllabaries have such names: ኬ is ETHIOPIC SYLLABLE KEE, 가 is HANGUL SYLLABLE GA. Written so, the
forms of one consonant have something in common, and so have the names of one place in several
scripts. In Ethiopic AA and EE are the vowels of "father" and "they", A is a short one, and E is
mostly not said at all, so it is left out.

A text in one such script alone is better read as it is; one that has other letters too gains what
both then have in common (`is_mixed`).
"""

import unicodedata
from collections import Counter
from functools import lru_cache

MIXED = 0.01  # of the letters: fewer of the other kind are quotations
_ETHIOPIC_VOWELS = {"AA": "a", "EE": "e", "A": "e", "E": ""}  # the longer ones first


def romanised(text: str) -> str:
    """The text with every syllable letter spelt out, all else as it is."""
    return text if text.isascii() else "".join(map(_spelt, text))


def is_mixed(text: str) -> bool:
    """Whether there are letters that stand for syllables, and others, a hundredth at least each."""
    letters = {letter: times for letter, times in Counter(text).items() if letter.isalpha()}
    syllables = sum(times for letter, times in letters.items() if _spelt(letter) != letter)
    return MIXED <= syllables / max(1, sum(letters.values())) <= 1 - MIXED


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
