"""Which words can be inside names and at their edges, whatever their gates say."""

import numpy as np
import pytest

from thresher.entities.finding.evidence import chain_inputs
from thresher.entities.finding.name_patterns import quoted_titles
from thresher.entities.finding.signals import SignalExtractor
from thresher.entities.finding.span_model import SpanModel
from thresher.entities.finding.word_traits import word_traits
from thresher.entities.priors.word_lists import ENGLISH_NOT_NAMES
from thresher.text.indexed_sentences import IndexedSentences

NAME, NOUN, OTHER = 5.0, 0.5, -6.0  # log-odds: a name by itself, a capital that is none, the rest
MODEL = SpanModel(scale=1.0, bias=2.5, start=0.02, continuation=-1.0, link=0.25)


def inputs_of(text, names=(), nouns=()):
    """The inputs of the span model; words are other words unless they are in one of the lists."""
    words = text.split()
    sentences = IndexedSentences.from_sentences([words])
    odds = [NAME if w in names else NOUN if w in nouns else OTHER for w in words]
    signals = SignalExtractor(not_names=ENGLISH_NOT_NAMES, strict_headlines=True).extract([words])
    inputs = chain_inputs(sentences, np.array(odds), None, signals, ENGLISH_NOT_NAMES)
    return words, sentences, inputs


def found(text, names=(), nouns=()):
    """The most probable names, as text."""
    words, sentences, inputs = inputs_of(text, names, nouns)
    (candidates,) = MODEL.candidates(sentences, inputs).by_sentence(sentences)
    return [" ".join(words[each.start : each.end]) for each in candidates if each.score > 0.3]


@pytest.mark.parametrize(
    ("text", "names", "nouns", "expected"),
    [
        (
            "they joined the American Association for the Advancement of Science in spring",
            ["American"],
            ["Association", "Advancement", "Science"],
            ["American Association for the Advancement of Science"],
        ),
        (
            "she won an Academy Award for Best Picture again",
            [],
            ["Academy", "Award", "Best", "Picture"],
            ["Academy Award for Best Picture"],
        ),
        (
            "the Council on Foreign Relations answered quickly",
            [],
            ["Council", "Foreign", "Relations"],
            ["Council on Foreign Relations"],
        ),
        # A name by itself after the preposition is another name.
        (
            "he left Chelsea for Arsenal last summer",
            ["Chelsea", "Arsenal"],
            [],
            ["Chelsea", "Arsenal"],
        ),
        ("they saw Anna in Berlin last summer", ["Anna", "Berlin"], [], ["Anna", "Berlin"]),
        # And so is a name before "on" or "in", whatever follows.
        ("they saw Anna on Channel last summer", ["Anna"], ["Channel"], ["Anna"]),
    ],
)
def test_a_preposition_is_inside_a_name_if_what_follows_is_no_name_by_itself(
    text, names, nouns, expected
):
    assert found(text, names, nouns) == expected


@pytest.mark.parametrize(
    ("text", "can_join"),
    [
        ("we met Jane Smith of Leeds", False),
        ("we met Jane Smith van Leeds", True),
        ("we met Smith of Leeds", True),
        ("we met the Jane Bank of Leeds", True),
    ],
)
def test_of_does_not_join_after_two_names_by_themselves(text, can_join):
    words, _, inputs = inputs_of(text, ["Jane", "Smith", "Leeds"], ["Bank"])
    assert np.isfinite(inputs.log_odds[len(words) - 2]) == can_join


@pytest.mark.parametrize("particle", ["La", "Van", "Al", "De"])
def test_a_particle_with_a_capital_starts_a_name(particle):
    text = f"they met {particle} Jolla yesterday"
    assert found(text, ["Jolla"], [particle]) == [f"{particle} Jolla"]
    lower = text.replace(particle, particle.lower())
    assert found(lower, ["Jolla"]) == ["Jolla"]


def test_an_ordinal_before_a_capital_starts_a_name():
    assert found("they saw the 45th Grammy Awards yesterday", ["Grammy"], ["Awards"]) == [
        "45th Grammy Awards"
    ]
    assert found("they came 45th yesterday and met Anna", ["Anna"]) == ["Anna"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("we met Theresa May in June", ["Theresa May"]),
        ("we left Leeds May 5 at noon", ["Leeds"]),
        ("they sell the Phone 15 in Leeds", ["Phone 15", "Leeds"]),
        ("they fined Phone 15 times", ["Phone"]),
    ],
)
def test_months_and_numbers_extend_a_name_unless_they_are_dates_or_counts(text, expected):
    assert found(text, ["Theresa", "Leeds", "Phone"]) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("they sued Procter & Gamble again", ["Procter & Gamble"]),
        ("they sued Chase Morgan & Co again", ["Chase Morgan & Co"]),
        ("they met Ann Gamble & Rosa Procter again", ["Ann Gamble", "Rosa Procter"]),
        ("they sued Procter & others", ["Procter"]),
    ],
)
def test_an_ampersand_joins_two_capitals_but_not_two_full_names(text, expected):
    assert found(text, ["Ann", "Rosa", "Procter", "Gamble", "Chase"], ["Morgan", "Co"]) == expected


@pytest.mark.parametrize(
    ("text", "names", "nouns", "expected"),
    [
        # "'s" is inside a name before a common noun, unless it follows a sure name.
        (
            "they read Gulliver 's Travels again",
            [],
            ["Gulliver", "Travels"],
            ["Gulliver 's Travels"],
        ),
        ("they sued Lloyd 's Register again", ["Lloyd"], ["Register"], ["Lloyd 's Register"]),
        ("they saw Germany 's Parliament again", ["Germany"], ["Parliament"], ["Germany"]),
        ("they met Lee 's Chairman again", ["Lee"], ["Chairman"], ["Lee"]),
        ("they like McDonald 's again", ["McDonald"], [], ["McDonald 's"]),
        ("they like Anna 's again", ["Anna"], [], ["Anna"]),
        # Given names of two syllables.
        ("they met Ban Ki - moon again", ["Ki"], [], ["Ban Ki - moon"]),
        ("they met Jae - in Moon again", ["Jae", "Moon"], [], ["Jae - in Moon"]),
        ("they met an Iran - led group", ["Iran"], [], ["Iran"]),
        ("they met a York - run group", ["York"], [], ["York"]),
        # Other parts of names.
        ("they fought in World War I again", ["World"], ["War"], ["World War I"]),
        ("they went where Lee and I live", ["Lee"], [], ["Lee"]),
        ("they cited Roe v. Wade again", ["Roe", "Wade"], [], ["Roe v. Wade"]),
        ("they met Martin King , Jr. again", ["Martin", "King"], ["Jr."], ["Martin King , Jr."]),
        ("they met Martin , Anna again", ["Martin", "Anna"], [], ["Martin", "Anna"]),
        ("they left Aix - en - Rémy again", ["Aix", "Rémy"], [], ["Aix - en - Rémy"]),
        (
            "they left Trinidad and Tobago again",
            ["Trinidad", "Tobago"],
            [],
            ["Trinidad and Tobago"],
        ),
        ("they left Tobago and Trinidad again", ["Trinidad", "Tobago"], [], ["Tobago", "Trinidad"]),
    ],
)
def test_small_words_join_the_parts_of_a_name(text, names, nouns, expected):
    assert found(text, names, nouns) == expected


def test_parts_of_names_do_not_join_words_of_two_sentences():
    for words in (["Anna", "Ki"], ["-", "moon"]), (["Gulliver"], ["'s", "Travels"]):
        sentences = [list(each) for each in words]
        signals = SignalExtractor(strict_headlines=True).extract(sentences)
        odds = np.full(sum(map(len, words)), NOUN)
        indexed = IndexedSentences.from_sentences(sentences)
        inputs = chain_inputs(indexed, odds, None, signals, ENGLISH_NOT_NAMES)
        plain = [[word if word.isalpha() else "x" for word in each] for each in sentences]
        signals = SignalExtractor(strict_headlines=True).extract(plain)
        expected = chain_inputs(
            IndexedSentences.from_sentences(plain), odds, None, signals, ENGLISH_NOT_NAMES
        )
        letters = [word.isalpha() for each in sentences for word in each]
        assert np.array_equal(inputs.log_odds[letters], expected.log_odds[letters])


def test_a_title_between_two_names_separates_them():
    text = "yesterday Arkansas Governor Bill Clinton resigned"
    assert found(text, ["Arkansas", "Bill", "Clinton"], ["Governor"]) == [
        "Arkansas",
        "Bill Clinton",
    ]
    inside = "yesterday Martin Luther King resigned"
    assert found(inside, ["Martin", "Luther", "King"]) == ["Martin Luther King"]


@pytest.mark.parametrize(
    ("text", "names", "nouns", "expected"),
    [
        ("yesterday Queen Elizabeth arrived", ["Elizabeth"], ["Queen"], ["Queen Elizabeth"]),
        ("Queen Elizabeth arrived yesterday", ["Elizabeth"], ["Queen"], ["Queen Elizabeth"]),
        ("yesterday General Motors closed", [], ["General", "Motors"], ["General Motors"]),
        ("yesterday General Grant arrived", ["Grant"], ["General"], ["Grant"]),
        ("yesterday President Grant arrived", ["Grant"], ["President"], ["Grant"]),
        ("yesterday Governor House closed", [], ["Governor", "House"], []),
    ],
)
def test_ranks_start_names_and_other_titles_only_before_words_that_are_no_names(
    text, names, nouns, expected
):
    assert found(text, names, nouns) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('they read " A Tale of Two Cities " again', ["A Tale of Two Cities"]),
        ("they sang “ Breakfast with Amy ” and left", []),  # "with" is not short
        ('he said " Yes " and " No Surprises " began', ["No Surprises"]),
        ('he said " I do not know " to Anna', []),
        ('" The Kill " and " From Yesterday "', ["The Kill", "From Yesterday"]),
        ('Anna " The Kill', []),
        ('he said " And Then There Were None At All But Nine Men " again', []),  # too long
    ],
)
def test_titles_of_works_are_quoted_and_written_as_titles_are(text, expected):
    words = text.split()
    sentences = IndexedSentences.from_sentences([words])
    titles = quoted_titles(sentences, word_traits(sentences))
    bounds = zip(np.flatnonzero(titles.first), np.flatnonzero(titles.last), strict=True)
    assert [" ".join(words[low : high + 1]) for low, high in bounds] == expected
    assert titles.inside.sum() == sum(len(each.split()) for each in expected)


def test_a_quoted_title_is_one_name_although_its_words_are_none():
    assert found('they read " A Tale of Two Cities " again') == ["A Tale of Two Cities"]
    assert found("they read A Tale of Two Cities again") == []


def test_quotation_marks_of_two_sentences_do_not_enclose_a_title():
    sentences = IndexedSentences.from_sentences([["“", "Big"], ["Sky", "”", "fell"]])
    assert not quoted_titles(sentences, word_traits(sentences)).inside.any()


def test_empty_sentences_have_no_last_word():
    words = [[], ["Anna"], [], [], ["Bob", "left"], []]
    sentences = IndexedSentences.from_sentences(words)
    signals = SignalExtractor(strict_headlines=True).extract(words)
    inputs = chain_inputs(sentences, np.zeros(3), None, signals, frozenset())
    assert np.isneginf(inputs.links).tolist() == [True, False, True]
    nothing = IndexedSentences.from_sentences([[], []])
    signals = SignalExtractor(strict_headlines=True).extract([[], []])
    assert not len(chain_inputs(nothing, np.zeros(0), None, signals, frozenset()).links)
