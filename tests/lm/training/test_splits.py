import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.errors import InputError
from thresher.lm.training.splits import split_text


@given(text=st.text(st.sampled_from("ab\n"), min_size=200, max_size=3000))
def test_the_parts_have_their_fractions_and_together_are_the_text(text):
    try:
        parts = split_text(text, validation=0.1, test=0.2)
    except InputError:
        return
    train, validation, test = map(str, (parts.train, parts.validation, parts.test))
    assert train + validation + test == text
    assert len(validation) == pytest.approx(0.1 * len(text), abs=0.01 * len(text) + 2)
    assert len(test) == pytest.approx(0.2 * len(text), abs=0.01 * len(text) + 2)


def test_parts_end_at_line_ends_if_there_are_some():
    text = "a line of text\n" * 1003  # neither part would end at one by chance
    parts = split_text(text)
    assert str(parts.train).endswith("text\n")
    assert str(parts.validation).startswith("a line")
    assert str(parts.test).startswith("a line")


def test_a_part_smaller_than_a_line_is_a_line():
    text = ("a line of text " * 5 + "\n") * 1003
    parts = split_text(text, validation=0.0001, test=0.2)
    assert str(parts.validation) == text[:76]
    assert "".join(map(str, vars(parts).values())) == text


@pytest.mark.parametrize("text", ["a", "ab", " " * 100 + "a"])
def test_a_text_that_is_too_short_is_an_error(text):
    with pytest.raises(InputError, match="too short for a training"):
        split_text(text)


@pytest.mark.parametrize("text", ["", " \n" * 100])
def test_an_empty_text_is_an_error(text):
    with pytest.raises(InputError, match="empty or blank"):
        split_text(text)


@pytest.mark.parametrize(("validation", "test"), [(0, 0.1), (0.5, 0.5), (0.1, 1), (-0.1, 0.2)])
def test_fractions_that_leave_no_training_text_are_an_error(validation, test):
    with pytest.raises(InputError, match="their sum below 1"):
        split_text("a" * 100, validation=validation, test=test)
