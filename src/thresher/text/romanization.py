"""Spell syllabic letters in Latin letters, by their Unicode names: ኬንያ becomes kenya.

The Unicode name of a letter of a syllabary contains its sound: ኬ is ETHIOPIC SYLLABLE KEE, 가 is
HANGUL SYLLABLE GA. Romanized, the syllables of one consonant share a letter, and so do the names
of one place in several scripts. In Ethiopic, AA and EE are the vowels of "father" and "they", A is
a short vowel, and E is mostly silent, so it is left out.

Romanization helps only texts that mix a syllabary with other scripts (`has_mixed_scripts`).
"""

import unicodedata
from collections import Counter
from functools import lru_cache

MIN_FRACTION = 0.01  # of the letters; with fewer of one kind, these are quotations
_ETHIOPIC_VOWELS = {"AA": "a", "EE": "e", "A": "e", "E": ""}  # longer ones first


def romanize(text: str) -> str:
    """Return the text with every syllabic letter spelt in Latin letters; the rest is unchanged."""
    return text if text.isascii() else "".join(map(_romanize_letter, text))


def has_mixed_scripts(text: str) -> bool:
    """Return True if at least 1 % of the letters are syllabic, and at least 1 % are not."""
    letters = {letter: count for letter, count in Counter(text).items() if letter.isalpha()}
    syllabic = sum(count for letter, count in letters.items() if _romanize_letter(letter) != letter)
    return MIN_FRACTION <= syllabic / max(1, sum(letters.values())) <= 1 - MIN_FRACTION


@lru_cache(maxsize=1 << 14)
def _romanize_letter(letter: str) -> str:
    script, _, sound = unicodedata.name(letter, "").partition(" SYLLABLE ")
    if not sound:
        return letter
    sound = sound.split()[-1]  # the vowel of GLOTTAL A
    if script == "ETHIOPIC":
        sound = _spell_ethiopic(sound)
    return sound.lower()


def _spell_ethiopic(sound: str) -> str:
    for vowel, spelling in _ETHIOPIC_VOWELS.items():
        if sound.endswith(vowel):
            consonant = sound.removesuffix(vowel)
            return consonant + spelling if consonant else vowel[0]
    return sound
