"""Parsers of option values that have a form of their own, such as capitalised=0.85."""

from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, TypeVar

import typer

import thresher
from thresher.bulk.chunks import sentences_of
from thresher.entities.choices import WordFeature
from thresher.errors import InputError, did_you_mean
from thresher.gates.choices import FilterKind
from thresher.lm.losses.margin import Margin

Choice = TypeVar("Choice", bound=StrEnum)


class ExpectedRate(NamedTuple):
    """The expected fraction of entities among the words that have a feature."""

    feature: str
    rate: float


class FilterChoice(NamedTuple):
    """The frequencies that a Fourier filter keeps."""

    kind: str
    cutoff: float
    upper: float = 1.0


class KindName(NamedTuple):
    """A kind in gold data or predictions, and what it is called in the results."""

    kind: str
    name: str


class NamedModel(NamedTuple):
    """A model and the name by which requests choose it."""

    name: str
    folder: Path


def parse_expected_rate(value: str) -> ExpectedRate:
    """Parse `feature=rate`, such as capitalised=0.85."""
    feature, equals, rate = value.partition("=")
    if not equals:
        raise typer.BadParameter(f"{value!r} is not of the form capitalised=0.85")
    return ExpectedRate(_parse_choice(feature.strip(), WordFeature), _parse_rate(rate.strip()))


def parse_filter(value: str) -> FilterChoice:
    """Parse `low=0.3`, `high=0.3` or `band=0.1-0.5`."""
    kind, equals, cutoffs = value.partition("=")
    low, dash, high = cutoffs.partition("-")
    if not equals or bool(dash) != (kind == FilterKind.BAND):
        form = "band=0.1-0.5" if kind == FilterKind.BAND else "low=0.3, high=0.3 or band=0.1-0.5"
        raise typer.BadParameter(f"{value!r} is not of the form {form}")
    chosen = _parse_choice(kind, FilterKind)
    cutoff = _parse_rate(low)
    return FilterChoice(chosen, cutoff, _parse_rate(high)) if dash else FilterChoice(chosen, cutoff)


def parse_layer_or_mean(value: str) -> int | str:
    """Parse the number of a layer, or the word mean."""
    if value == "mean":
        return value
    if value.isascii() and value.isdigit() and int(value) >= 1:
        return int(value)
    raise typer.BadParameter(f"{value!r} is neither the number of a layer nor the word mean")


def parse_rate_or_none(value: str) -> float | str:
    """Parse a rate, or the word none."""
    return value if value == "none" else _parse_rate(value)


def parse_margin(value: str) -> Margin:
    """Parse the margin of a loss, such as 4, 2:12, norm:0.0625, top-p:0.9 or auto."""
    try:
        return Margin.parse(value)
    except InputError as error:
        raise typer.BadParameter(str(error)) from error


def parse_kind_name(value: str) -> KindName:
    """Parse `PER=person`."""
    kind, _, name = (part.strip() for part in value.partition("="))
    if not kind or not name:
        raise typer.BadParameter(f"{value!r} is not of the form PER=person")
    return KindName(kind, name)


def parse_named_model(value: str) -> NamedModel:
    """Parse `name=folder`; a folder without a name is called by its last part."""
    name, equals, folder = value.partition("=")
    if not equals:
        name, folder = Path(value).resolve().name, value
    if not name or not folder:
        raise typer.BadParameter(f"{value!r} is not of the form name=folder")
    return NamedModel(name, Path(folder))


def parse_kinds(value: str) -> tuple[str, ...]:
    """Parse `person,place`."""
    kinds = tuple(kind.strip() for kind in value.split(","))
    if not all(kinds):
        raise typer.BadParameter(f"{value!r} is not of the form person,place")
    return kinds


def _parse_rate(value: str) -> float:
    try:
        if 0 <= (rate := float(value)) <= 1:
            return rate
    except ValueError:
        pass
    raise typer.BadParameter(f"{value!r} is not a number from 0 to 1")


def _parse_choice(value: str, choices: type[Choice]) -> str:
    if value in list(choices):
        return value
    raise typer.BadParameter(
        f"{value!r} is not one of {', '.join(choices)}{did_you_mean(value, choices)}"
    )


def word_list(path: str | None) -> frozenset[str]:
    """Return every word of a file, case-folded; the empty set if `path` is None."""
    if path is None:
        return frozenset()
    sentences = sentences_of(thresher.read_texts(path, format="text"))
    return frozenset(word.casefold() for words in sentences for word in words)
