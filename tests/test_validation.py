"""Invalid arguments raise InputError with the rule, the value and the choices."""

import math
from enum import StrEnum
from types import SimpleNamespace

import pytest

from thresher.errors import InputError
from thresher.validation import require, require_choice, require_fields, require_number


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


def test_require_names_the_argument_the_rule_and_the_value():
    require(True, "layer", 3, "a layer")
    with pytest.raises(InputError, match=r"^`layer` must be a layer, got 9$"):
        require(False, "layer", 9, "a layer")


def test_a_choice_may_be_a_string_or_a_member():
    require_choice("colour", "red", Colour)
    require_choice("colour", Colour.BLUE, Colour)
    with pytest.raises(InputError, match=r"^unknown `colour` 'green'; choose from red, blue$"):
        require_choice("colour", "green", Colour)


@pytest.mark.parametrize(
    ("value", "bounds", "rule"),
    [
        (0, {"at_least": 1}, "at least 1"),
        (0.0, {"above": 0}, "above 0"),
        (1.5, {"at_least": 0, "at_most": 1}, "at least 0 and at most 1"),
        (1, {"above": 0, "below": 1}, "above 0 and below 1"),
        (math.nan, {"at_least": 0}, "at least 0"),
    ],
)
def test_a_number_out_of_range_is_refused(value, bounds, rule):
    with pytest.raises(InputError, match=f"^`x` must be {rule}, got {value}$"):
        require_number("x", value, **bounds)


@pytest.mark.parametrize(
    ("value", "bounds"),
    [
        *((value, {"at_least": 0, "at_most": 1}) for value in (0, 0.5, 1)),
        (0.5, {"above": 0, "below": 1}),
        (math.inf, {}),
    ],
)
def test_a_number_within_its_bounds_is_accepted(value, bounds):
    assert require_number("x", value, **bounds) is None


def test_fields_are_checked_by_name_and_may_be_none():
    settings = SimpleNamespace(steps=3, width=None, epochs=0)
    require_fields(settings, ("steps", "width"), at_least=1)
    with pytest.raises(InputError, match="`epochs` must be at least 1, got 0"):
        require_fields(settings, ("steps", "epochs"), at_least=1)
