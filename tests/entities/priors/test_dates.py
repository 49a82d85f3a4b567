"""Dates are found by their years."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.entities.finding.signals import SignalExtractor
from thresher.entities.priors.casing import Casing
from thresher.entities.priors.dates import DatePrior, date_words, is_date, is_year
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.priors.word_statistics import WordStatistics
from thresher.entities.training.settings import EntitySettings

HAUSA = [["a", "ranar", "28", "ga", "Agusta", "2018", "an", "ga", "28", "mutane"]] * 5
WORDS = [word for words in HAUSA for word in words]


@pytest.mark.parametrize("year", ["1500", "1999", "2099", "٢٠١٨", "२०१८"])
def test_years_are_numbers_from_1500_to_2099_in_any_digits(year):
    assert is_year(year)


@pytest.mark.parametrize("other", ["1499", "2100", "218", "20180", "12:30", "2018-", "²⁰¹⁸", ""])
def test_other_numbers_and_words_are_not_years(other):
    assert not is_year(other)


def test_words_that_are_often_next_to_a_year_are_date_words():
    assert date_words(HAUSA) == {"agusta", "an"}
    assert date_words(HAUSA[:4]) == frozenset()  # four times are too few
    elsewhere = [["an", "ce", "haka"]] * 21
    assert date_words([*HAUSA, *elsewhere]) == {"agusta"}  # five times of 26 are less than a fifth


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("Monday", True),
        ("12 March 2019", True),
        ("Monday , 3 . March", True),
        ("1998", True),
        ("12", False),  # any number
        ("- .", False),
        ("March of Dimes", False),
        ("Windows 98", False),
        ("", False),
    ],
)
def test_dates_have_date_words_years_and_days_alone(date, expected):
    assert is_date(date.split(), {"monday", "march"}) is expected


@given(st.lists(st.lists(st.sampled_from(["2018", "Mei", "mei", "5", "-"]), max_size=6)))
def test_date_words_equal_those_of_a_loop_over_words(sentences):
    count = next_to_year = 0
    for words in sentences:
        for i, word in enumerate(words):
            count += word.casefold() == "mei"
            near = [*words[max(0, i - 1) : i], *words[i + 1 : i + 2]]
            next_to_year += word.casefold() == "mei" and "2018" in near
    expected = {"mei"} if next_to_year >= 5 and next_to_year >= 0.2 * count else set()
    assert date_words(sentences) == expected


def test_a_short_number_near_a_year_is_a_day():
    found = DatePrior(frozenset({"agusta"})).probabilities(HAUSA)[:10]
    assert np.flatnonzero(found == 1).tolist() == [2, 4, 5, 8]
    assert np.isnan(np.delete(found, [2, 4, 5, 8])).all()
    alone = DatePrior(frozenset()).probabilities([["28", "mutane", "a", "nan", "2018"], ["28"]])
    assert np.isnan(alone[[0, 5]]).all()


def test_dates_are_entities_only_if_chosen():
    def probabilities(**options):
        prior_knowledge = PriorKnowledge(priors=("casing",), **options)
        found = prior_knowledge.prior_probabilities(
            HAUSA, WordStatistics.from_sentences(HAUSA), EntitySettings()
        )
        return dict(zip(WORDS, found, strict=True))

    assert probabilities()["2018"] == probabilities()["an"] == 0
    with_dates = probabilities(dates=True)
    assert with_dates["2018"] == with_dates["an"] == with_dates["Agusta"] == with_dates["28"] == 1
    assert with_dates["ranar"] == 0


def test_if_dates_are_entities_numbers_are_possible_and_their_case_is_uninformative():
    options = {"ordinary": None, "not_names": frozenset()}
    plain = SignalExtractor(**options).extract(HAUSA[:1])
    dated = SignalExtractor(dates=frozenset({"agusta", "an"}), **options).extract(HAUSA[:1])
    assert np.flatnonzero(dated.possible & ~plain.possible).tolist() == [2, 5, 8]
    assert [plain.casing[i] for i in (4, 6)] == [Casing.CAPITAL, Casing.LOWER]
    assert [dated.casing[i] for i in (4, 6)] == [Casing.UNINFORMATIVE, Casing.UNINFORMATIVE]
