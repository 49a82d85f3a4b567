import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.entities.priors import casing as casing_module
from thresher.entities.priors.casing import (
    Casing,
    casing_of_sentence,
    casing_of_words,
    has_letters,
    is_address,
    is_capitalised,
)
from thresher.text.indexed_sentences import IndexedSentences

NAMES = {Casing.UNINFORMATIVE: "-", Casing.LOWER: "l", Casing.CAPITAL: "C"}
WORDS = st.sampled_from(
    [
        "Paris",
        "paris",
        "NATO",
        "the",
        "The",
        "is",
        ".",
        ":",
        '"',
        "12",
        "iPhone",
        "東京",
        "@Ann",
        "é",
    ]
)


def seen(sentence: str) -> str:
    return " ".join(NAMES[each] for each in casing_of_sentence(sentence.split()))


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("He saw Paris again today .", "- l C l l -"),
        ("the NATO summit with an iPhone ended", "- C l l l C l"),
        ("Rain fell on 12 of 6PR roofs", "- l l - l C l"),
        ("He said : Rain is good for you .", "- l - - l l l l -"),
        ("she said “ Nobody is in Rome ”", "- l - - l l C -"),
        ("Go away ! Nobody is there now", "- l - - l l l"),
        ("1 . The end of the road", "- - - l l l l"),
        ("Marie Curie moved", "- - -"),
        ("PARIS HILTON IN ROME", "- - - -"),
        ("Fire In Rome kills two", "- - - - -"),
        ("東京 に 行く", "- - -"),
        ("42 , 43", "- - -"),
        ("we met @Ann and looked at http://A.com today", "- l - l l l - l"),
    ],
)
def test_casing_is_informative_where_grammar_does_not_decide_it(sentence, expected):
    assert seen(sentence) == expected


def word_by_word(words):
    """Return the casing of each word with a loop from left to right."""
    alone = [Casing.UNINFORMATIVE if is_address(word) else _as_written(word) for word in words]
    if alone.count(Casing.CAPITAL) >= alone.count(Casing.LOWER):
        return [Casing.UNINFORMATIVE] * len(words)
    first = True
    for i, word in enumerate(words):
        if alone[i] is not Casing.UNINFORMATIVE and first:
            alone[i], first = Casing.UNINFORMATIVE, False
        elif word in {*'.!?:;"“”«»‘`…—', "``", "''", "...", "--"}:
            first = True
    return alone


def _as_written(word):
    if word.lower() != word:
        return Casing.CAPITAL
    return Casing.LOWER if word.upper() != word else Casing.UNINFORMATIVE


@given(st.lists(st.lists(WORDS, max_size=12), max_size=5))
def test_the_casing_of_many_sentences_equals_that_of_each(sentences):
    one_by_one = [each for words in sentences for each in word_by_word(words)]
    assert casing_of_words(IndexedSentences.from_sentences(sentences)).tolist() == one_by_one


@given(st.lists(WORDS, max_size=12))
def test_the_first_cased_word_and_words_without_case_are_uninformative(words):
    result = casing_of_sentence(words)
    assert len(result) == len(words)
    cased = [i for i, word in enumerate(words) if word.lower() != word.upper()]
    assert all(result[i] is Casing.UNINFORMATIVE for i in range(len(words)) if i not in cased)
    if cased and not is_address(words[cased[0]]):
        assert result[cased[0]] is Casing.UNINFORMATIVE


@given(st.lists(WORDS, max_size=12))
def test_a_sentence_with_as_many_capitalised_as_lower_case_words_is_uninformative(words):
    capitals = sum(is_capitalised(word) for word in words)
    lower = sum(word == word.lower() != word.upper() for word in words)
    if capitals >= lower:
        assert set(casing_of_sentence(words)) <= {Casing.UNINFORMATIVE}


@given(st.lists(WORDS, max_size=12))
def test_lower_cased_text_has_no_capitals(words):
    assert Casing.CAPITAL not in casing_of_sentence([word.lower() for word in words])


@pytest.mark.parametrize("address", ["@ann", "http://a.com/b", "www.b.org", "x@y.org", "a.b.com"])
def test_the_case_of_an_address_is_uninformative_and_does_not_begin_a_sentence(address):
    after = casing_of_sentence([address, "Look", "at", "this", "thing", address])
    assert after == casing_of_sentence(
        [address.upper(), "Look", "at", "this", "thing", address.upper()]
    )
    assert after == [Casing.UNINFORMATIVE] * 2 + [Casing.LOWER] * 3 + [Casing.UNINFORMATIVE]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("Paris", True),
        ("iPhone", True),
        ("6PR", True),
        ("Ω", True),
        ("paris", False),
        ("12", False),
        ("@Ann", False),
        ("東京", False),
        ("", False),
    ],
)
def test_a_word_is_capitalised_if_any_letter_is_a_capital(word, expected):
    assert is_capitalised(word) is expected


@pytest.mark.parametrize(
    "word",
    ["@ann", "http://a", "HTTPS://A.B/c", "www.a.b", "ann@b.org", "&amp;", "&#39;", "b.co.com"],
)
def test_addresses_are_recognized(word):
    assert is_address(word)


@pytest.mark.parametrize(
    "word", ["ann", "e.g.", "U.S.", "@", "&", "a.company", "3.14", "and/or", ""]
)
def test_other_words_are_not_addresses(word):
    assert not is_address(word)


@given(st.text(max_size=6))
def test_an_alphanumeric_word_is_not_an_address(word):
    if word.isalnum():  # the pattern is not applied to such words
        assert casing_module._ADDRESS.match(word) is None


@given(st.text(max_size=6))
def test_a_word_has_letters_if_one_of_its_characters_is_a_letter(word):
    assert has_letters(word) == any(character.isalpha() for character in word)
