"""The word lists agree with Unicode CLDR, their source."""

import pytest
from babel import Locale

from thresher.entities.priors.word_lists import CALENDAR, ENGLISH_NOT_NAMES, TIME_ZONES, TIMES


@pytest.fixture(scope="module")
def cldr() -> set[str]:
    """Names of months, quarters, days, day periods, eras and time zones in five Englishes."""
    names: set[str] = set()
    for code in ("en", "en_US", "en_GB", "en_CA", "en_AU"):
        locale = Locale.parse(code)
        for table in (locale.months, locale.quarters, locale.days, locale.day_periods):
            for form in table.values():
                for width in form.values():
                    names.update(width.values())
        names.update(name for width in locale.eras.values() for name in width.values())
        for zone in (*locale.meta_zones.values(), *locale.time_zones.values()):
            names.update(zone.get("short", {}).values())
    return {name.lower() for name in names}


def test_calendar_times_and_zones_are_those_of_cldr(cldr: set[str]) -> None:
    usual_variants = {"tues", "thurs"}
    assert {word.rstrip(".") for word in CALENDAR} - usual_variants <= cldr
    assert cldr >= TIMES | TIME_ZONES


def test_every_month_quarter_and_day_is_listed() -> None:
    english = Locale("en")
    for table in (english.months, english.days):
        for width in ("wide", "abbreviated"):
            assert {name.lower() for name in table["format"][width].values()} <= CALENDAR
    assert {name.lower() for name in english.quarters["format"]["abbreviated"].values()} <= CALENDAR


def test_words_that_are_also_names_of_places_are_not_listed() -> None:
    assert not ENGLISH_NOT_NAMES & {"west", "east", "act", "art", "pet", "us", "it"}
