"""Syllabic letters are romanized by their Unicode names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.text.romanization import has_mixed_scripts, romanize


@pytest.mark.parametrize(
    ("written", "spelt"),
    [
        ("ኬንያ", "kenya"),
        ("ናይጄሪያ", "nayjeriya"),
        ("ዶናልድ ትራምፕ", "donald tramp"),
        ("አዲስ", "adis"),
        ("እና", "ena"),
        ("ቋንቋ", "qwanqwa"),
        ("가나", "gana"),
        ("Curie, né ça 12 ። नमस्ते شكرا", "Curie, né ça 12 ። नमस्ते شكرا"),
        ("", ""),
    ],
)
def test_only_syllabic_letters_are_romanized(written, spelt):
    assert romanize(written) == spelt


@pytest.mark.parametrize(
    ("text", "mixed"),
    [
        ("ኬንያ " * 99, False),
        ("ኬንያ " * 99 + "ab", False),
        ("ኬንያ " * 99 + "Nairobi", True),
        ("Nairobi " * 9 + "ኬ", True),
        ("Nairobi शुक्रिया", False),
        ("12 .", False),
        ("", False),
    ],
)
def test_scripts_are_mixed_from_one_percent_of_the_letters(text, mixed):
    assert has_mixed_scripts(text) == mixed


@given(st.text())
def test_romanized_text_is_not_changed(text):
    assert romanize(romanize(text)) == romanize(text)


def test_every_ethiopic_syllable_has_latin_letters():
    syllables = [chr(point) for point in range(0x1200, 0x1358) if chr(point).isalpha()]
    assert all(romanize(each).isascii() and romanize(each) for each in syllables)
