"""Syllables spelt out by the names Unicode gives them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.text.romanization import is_mixed, romanised


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
def test_syllables_are_spelt_and_all_else_is_left(written, spelt):
    assert romanised(written) == spelt


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
def test_a_text_is_mixed_if_one_letter_in_a_hundred_is_of_the_other_kind(text, mixed):
    assert is_mixed(text) == mixed


@given(st.text())
def test_what_is_spelt_stays_so(text):
    assert romanised(romanised(text)) == romanised(text)


def test_every_ethiopic_syllable_has_latin_letters():
    syllables = [chr(point) for point in range(0x1200, 0x1358) if chr(point).isalpha()]
    assert all(romanised(each).isascii() and romanised(each) for each in syllables)
