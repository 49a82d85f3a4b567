"""Names are joined as they were written before `segment` split them."""

import pytest

from thresher.entities.kinds.examples import KindExamples, name_words
from thresher.text.word_joining import join_words

ENGLISH = [name for names in KindExamples.english().names.values() for name in names]


def test_the_names_of_the_built_in_kinds_are_joined_as_they_are_written():
    assert any("-" in name for name in ENGLISH)
    assert [join_words(name_words(name)) for name in ENGLISH] == ENGLISH


@pytest.mark.parametrize(
    "name",
    [
        "Anna-Lena Schmidt",
        "Anglo-Dutch",
        "Thirty Years’ War",
        "McDonald’s",
        "TCP/IP",
        "J. K. Rowling",
        "Plan B.",
        'the "Iron Lady" of London',
        "rock 'n' roll",
        "Moulin Rouge (film)",
        "Procter & Gamble",
        "AT&T",
        "东京大学",
        "Yahoo! Answers",
    ],
)
def test_names_are_joined_as_they_are_written(name):
    assert len(name_words(name)) > 1
    assert join_words(name_words(name)) == name
