"""Spellings of one name, and surnames: what is one entity, and what is not."""

import pytest

from thresher.entities.tables.names import NameInDocument, full_names, name_key


@pytest.mark.parametrize(
    "spellings",
    [
        ["Nvidia", "NVIDIA", "nvidia"],
        ["The Beatles", "the Beatles", "Beatles"],
        ["Obama", "Obama's", "Obama’s", "OBAMA'S"],
        ["Texas", "Texas'", "Texas’"],
        ["François Hollande", "Francois Hollande", "François\n  Hollande"],
        ["U.S.", "U.S", "“U.S.”"],
        ["Zoë", "Zoe\u0308", "Zoe"],
    ],
)
def test_spellings_of_one_name_have_one_key(spellings):
    assert len({name_key(spelling) for spelling in spellings}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Korea", "South Korea"),
        ("Paris", "Parish"),
        ("й", "и"),  # a mark that makes another letter
        ("काल", "कल"),
        ("James", "Jame"),
        ("...", "?!"),
    ],
)
def test_different_names_have_different_keys(one, other):
    assert name_key(one) != name_key(other)


def names(*given):
    """Names in the order of their first mention; "Oslo:place" has a kind."""
    pairs = [each.partition(":") for each in given]
    return {
        name.casefold(): NameInDocument(number, kind or None)
        for number, (name, _, kind) in enumerate(pairs)
    }


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["Jensen Huang", "Huang"], {"huang": "jensen huang"}),
        (["Jensen Huang:person", "Huang:person"], {"huang": "jensen huang"}),
        (["Huang:person", "Jensen Huang:person"], {"huang": "jensen huang"}),
        (["Huang", "Jensen Huang:person"], {"huang": "jensen huang"}),
        (["Ludwig van Beethoven:person", "Beethoven"], {"beethoven": "ludwig van beethoven"}),
        (
            ["Mr Tomasz Wilk", "Tomasz Wilk", "Wilk"],
            {
                "wilk": "mr tomasz wilk",
                "tomasz wilk": "mr tomasz wilk",
            },
        ),
        # conservative: none of these is one entity
        (["Barack Obama:person", "Michelle Obama:person", "Obama:person"], {}),
        (["Huang", "Jensen Huang"], {}),  # without kinds the full name comes first
        (["Jensen Huang", "Jensen"], {}),
        (["University of Texas", "Texas"], {}),
        (["New York", "York"], {}),
        (["South Korea:place", "Korea:place"], {}),
        (["Real Madrid:organisation", "Madrid:place"], {}),
        (["Bayern Munich:organisation", "Munich"], {}),
        (["Boeing 747", "747"], {}),
        (["Ang Li", "Li"], {}),
    ],
)
def test_a_surname_is_the_full_name_only_if_it_is_clear(given, expected):
    assert full_names(names(*given)) == expected
