"""Syllables spelt out by the names Unicode gives them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.text.romanised import romanised


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


@given(st.text())
def test_what_is_spelt_stays_so(text):
    assert romanised(romanised(text)) == romanised(text)


def test_every_ethiopic_syllable_has_latin_letters():
    syllables = [chr(point) for point in range(0x1200, 0x1358) if chr(point).isalpha()]
    assert all(romanised(each).isascii() and romanised(each) for each in syllables)
