import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thresher.entities.finding.signals import SignalExtractor
from thresher.entities.priors.casing import (
    Casing,
    casing_of_sentence,
    has_letters,
    is_address,
    is_capitalised,
)

WORD = st.sampled_from(
    [
        "Anna",
        "anna",
        "Rome",
        "the",
        "The",
        "went",
        "NASA",
        ".",
        ":",
        "12",
        "@Bob",
        "Monday",
        "iPhone",
    ]
)
SENTENCES = st.lists(st.lists(WORD, max_size=6), max_size=8)
ORDINARY, NOT_NAMES, DATES = {"the", "went"}, {"monday"}, {"rome"}


def extract(sentences, *, ordinary=frozenset(), not_names=frozenset()):
    return SignalExtractor(ordinary=ordinary, not_names=not_names).extract(sentences)


def lowered(sentences):
    return [[word.lower() for word in words] for words in sentences]


def signals_word_by_word(sentences, *, dates):
    """Casing, repetition and possibility of the words of one text, word by word."""
    folded = [[word.casefold() for word in words] for words in sentences]
    for number, words in enumerate(sentences):
        speaks = any(map(is_capitalised, words))
        cases = casing_of_sentence(words) if speaks else [Casing.UNINFORMATIVE] * len(words)
        near = [word for each in folded[max(0, number - 10) : number + 11] for word in each]
        for word, case in zip(words, cases, strict=True):
            key = word.casefold()
            again = key not in ORDINARY and has_letters(key) and near.count(key) > 1
            silent = (again and case is Casing.LOWER) or (dates and key in DATES)
            name = has_letters(word) and not is_address(word) and key not in NOT_NAMES
            possible = name or (dates and word[0].isdigit())
            yield Casing.UNINFORMATIVE if silent else case, again, possible


@given(st.lists(SENTENCES, max_size=3), st.booleans())
def test_signals_of_texts_are_those_of_each_of_them_word_by_word(texts, dates):
    extractor = SignalExtractor(
        ordinary=ORDINARY, not_names=NOT_NAMES, dates=DATES if dates else None
    )
    signals = extractor.extract_texts(texts)
    expected = [each for text in texts for each in signals_word_by_word(text, dates=dates)]
    found = zip(
        signals.casing.tolist(), signals.repeated.tolist(), signals.possible.tolist(), strict=True
    )
    assert list(found) == expected


def test_a_word_is_repeated_only_within_ten_sentences():
    between = [["the"]] * 9
    for more, near in (([], True), ([["the"]], False)):
        sentences = [["anna"], *between, *more, ["Anna"]]
        again = extract(sentences, ordinary={"the"}).repeated
        assert again[[0, -1]].tolist() == [near, near]
        assert not again[1:-1].any()


def test_every_word_has_signals():
    sentences = [["he", "met", "Anna", "and", "anna", "on", "Monday"], ["12", "@bob", "x"]]
    signals = extract(sentences, ordinary={"he", "met", "and", "on"}, not_names={"monday"})
    assert signals.casing[2] == Casing.CAPITAL
    assert signals.casing[1] == Casing.LOWER
    assert signals.repeated.tolist() == [False] * 2 + [True, False, True] + [False] * 5
    assert signals.possible.tolist() == [True] * 6 + [False] * 3 + [True]


def test_repetition_is_unknown_if_rare_words_are():
    sentences = [["he", "met", "anna", "and", "anna", "in", "Rome"]]
    known, unknown = extract(sentences), extract(sentences, ordinary=None)
    assert unknown.repeated is None
    assert (known.casing[2], unknown.casing[2]) == (Casing.UNINFORMATIVE, Casing.LOWER)


def test_in_a_sentence_without_capitals_case_is_uninformative():
    assert (extract([["he", "met", "anna", "there"]]).casing == Casing.UNINFORMATIVE).all()


@given(SENTENCES)
def test_all_but_casing_is_the_same_of_a_text_and_its_lower_cased_form(sentences):
    options = {"ordinary": {"the", "went"}, "not_names": {"monday"}}
    given_case, lower = extract(sentences, **options), extract(lowered(sentences), **options)
    np.testing.assert_array_equal(given_case.repeated, lower.repeated)
    np.testing.assert_array_equal(given_case.possible, lower.possible)
    assert (lower.casing == Casing.UNINFORMATIVE).all()
