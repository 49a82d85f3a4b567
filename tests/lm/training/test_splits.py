"""Three parts that together are the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import InputError
from thresher.lm.training.splits import split_text


@given(text=st.text(st.sampled_from("ab\n"), min_size=200, max_size=3000))
def test_the_parts_are_the_text_in_their_shares(text):
    try:
        parts = split_text(text, validation=0.1, test=0.2)
    except InputError:
        return
    assert parts.train + parts.validation + parts.test == text
    assert len(parts.validation) == pytest.approx(0.1 * len(text), abs=0.01 * len(text) + 2)
    assert len(parts.test) == pytest.approx(0.2 * len(text), abs=0.01 * len(text) + 2)


def test_cuts_are_at_line_ends_where_there_are_some():
    text = "a line of text\n" * 1003  # neither cut would be at one by itself
    parts = split_text(text)
    assert parts.train.endswith("text\n")
    assert parts.validation.startswith("a line")
    assert parts.test.startswith("a line")


def test_a_part_smaller_than_a_line_is_a_line():
    text = ("a line of text " * 5 + "\n") * 1003
    parts = split_text(text, validation=0.0001, test=0.2)
    assert parts.validation == text[:76]
    assert parts.train + parts.validation + parts.test == text


@pytest.mark.parametrize("text", ["a", "ab", " " * 100 + "a"])
def test_a_text_too_short_is_an_error(text):
    with pytest.raises(InputError, match="too short to be cut"):
        split_text(text)


@pytest.mark.parametrize("text", ["", " \n" * 100])
def test_an_empty_text_is_an_error(text):
    with pytest.raises(InputError, match="empty or blank"):
        split_text(text)


@pytest.mark.parametrize(("validation", "test"), [(0, 0.1), (0.5, 0.5), (0.1, 1), (-0.1, 0.2)])
def test_shares_that_leave_nothing_are_an_error(validation, test):
    with pytest.raises(InputError, match="leave something"):
        split_text("a" * 100, validation=validation, test=test)
