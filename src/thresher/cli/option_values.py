"""What an option's value may be; a wrong one is answered with the right ones."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import typer

from thresher.errors import did_you_mean


def one_of(*choices: str) -> Callable[[str], str]:
    """A reader of one of these words."""

    def read(value: str) -> str:
        if value in choices:
            return value
        hint = did_you_mean(value, choices)
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(choices)}{hint}")

    return read


def completing(*choices: str) -> Callable[[str], list[str]]:
    """For shells: which of these words go on from what is typed."""
    return lambda incomplete: [each for each in choices if each.startswith(incomplete)]


def number(*, low: float, high: float = float("inf")) -> Callable[[str], float]:
    """A reader of a finite number in [low, high]."""

    def read(value: str) -> float:
        try:
            if low <= (parsed := float(value)) <= high and math.isfinite(parsed):
                return parsed
        except ValueError:
            pass
        rule = f"at least {low:g}" if high == float("inf") else f"from {low:g} to {high:g}"
        raise typer.BadParameter(f"{value!r} is not a number {rule}")

    return read


share = number(low=0, high=1)


def whole_number(*, low: int, high: int | None = None) -> Callable[[str], int]:
    """A reader of a whole number in [low, high]."""

    def read(value: str) -> int:
        if (
            value.isascii()
            and value.isdigit()
            and low <= (number := int(value)) <= (high or number)
        ):
            return number
        rule = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise typer.BadParameter(f"{value!r} is not a whole number {rule}")

    return read


seed = whole_number(low=0, high=2**32 - 1)


class StatedRate(NamedTuple):
    """The share of entities among words that have a feature."""

    feature: str
    rate: float


def stated_rate(*features: str) -> Callable[[str], StatedRate]:
    """A reader of `feature=rate`, such as capitalised=0.85."""
    read_feature = one_of(*features)

    def read(value: str) -> StatedRate:
        feature, equals, rate = value.partition("=")
        if not equals:
            raise typer.BadParameter(f"{value!r} is not of the form capitalised=0.85")
        return StatedRate(read_feature(feature.strip()), share(rate.strip()))

    return read


def given(**values: Any) -> dict[str, Any]:
    """The options that were given; the others are left to the library."""
    return {name: value for name, value in values.items() if value is not None}
