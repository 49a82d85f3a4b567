"""Affixes learned from words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.entities.priors.affixes import Affixes

STEMS = ["ኢትዮጵያ", "ኬንያ", "ሶማሌ", "ጀርመን", "ከተማ", "ሀገር", "ትምህርት", "ፓርቲ"]
WORDS = frozenset(
    [*STEMS, *("የ" + each for each in STEMS), *("በ" + each for each in STEMS[:5])]
    + [each + "ን" for each in STEMS[:6]]
    + ["የኬንያን", "ነበር", "አይደለም"]
)


def test_a_string_before_or_after_many_words_is_an_affix():
    affixes = Affixes.from_words(WORDS)
    assert affixes.prefixes == {"የ", "በ"}
    assert affixes.suffixes == {"ን"}


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("የኢትዮጵያ", "ኢትዮጵያ"),
        ("ኢትዮጵያን", "ኢትዮጵያ"),
        ("የኬንያን", "ኬንያ"),
        ("ነበር", "ነበር"),
        ("የማይታወቅ", "የማይታወቅ"),  # what would be left is no word of the text
        ("የ", "የ"),
        ("", ""),
    ],
)
def test_affixes_are_removed_while_a_known_word_remains(word, stem):
    assert Affixes.from_words(WORDS).stem(word) == stem


def test_listed_names_include_all_their_forms():
    listed = Affixes.from_words(WORDS).with_stems({"ኬንያ", "ቻድ"})
    assert listed == {"ኬንያ", "ቻድ", "የኬንያ", "በኬንያ", "ኬንያን", "የኬንያን"}


def test_an_affix_is_on_one_word_in_a_hundred_and_on_two_at_least():
    many = {f"{i:04}" for i in range(400)}
    few, enough = {"x" + f"{i:04}" for i in range(3)}, {"y" + f"{i:04}" for i in range(5)}
    assert Affixes.from_words(many | few | enough).prefixes == {"y"}
    assert Affixes.from_words(frozenset()).prefixes == frozenset()


@given(st.frozensets(st.text("abc", max_size=6), max_size=40), st.text("abc", max_size=6))
def test_a_stem_is_its_own_stem(words, word):
    affixes = Affixes.from_words(words)
    stem = affixes.stem(word)
    assert affixes.stem(stem) == stem
    assert stem in word
    assert stem == word or stem in words
