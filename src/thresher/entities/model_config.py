"""The folder of an entity finder: its files, and the values in config.json. Needs no torch."""

import math
from collections.abc import Mapping
from typing import Any, TypeVar

from thresher.encoders import static_arrays
from thresher.entities.finding.date_expressions import DateExpressions
from thresher.entities.finding.decoding import MIN_WORD_SCORE
from thresher.entities.finding.signal_weights import SignalWeights
from thresher.entities.finding.signals import SharedGates, SignalExtractor
from thresher.entities.finding.span_model import SpanModel
from thresher.entities.kinds import kind_model
from thresher.model_folder import FolderLayout
from thresher.untrusted_files import split_lines
from thresher.validation import require, require_number

WEIGHTS, WORDS, RANGES = "selector.safetensors", "ordinary.txt", "ranges.safetensors"
DATE_WORDS = ("words", "alone", "numerals", "joining")
LAYERS, LINKS = "layers.safetensors", "links.safetensors"
LAYOUT = FolderLayout(
    "entity finder",
    version=1,
    files=(WEIGHTS, WORDS),
    made_by="thresher fit",
    optional=(*static_arrays.FILES, RANGES, LAYERS, LINKS, *kind_model.FILES),
    max_weights=4 << 30,
)

T = TypeVar("T")


def check_config(config: Mapping[str, Any]) -> None:
    """Check the types of values that are used only after the model has been read."""
    require(type(config["encoder"]) is str, "encoder", repr(config["encoder"]), "a name")
    require(type(config["layer"]) is int, "layer", repr(config["layer"]), "a whole number")
    require(type(config.get("entity", 0)) is int, "entity", config.get("entity"), "a whole number")
    joining = config.get("joining", MIN_WORD_SCORE)
    require_number("joining", joining, at_least=0, at_most=1)
    lists = [("not_names", config), ("dates", config)]
    lists += [("dates", other) for other in config.get("others", [])]
    for name, own in lists:
        words = own.get(name) or []
        valid = isinstance(words, list) and all(isinstance(word, str) for word in words)
        require(valid, name, type(words).__name__, "a list of words")
    record = config["learned_from"]
    require(isinstance(record, dict), "learned_from", type(record).__name__, "an object")


def ordinary_words(config: Mapping[str, Any], content: bytes) -> frozenset[str] | None:
    """Return the words of `WORDS`; None if repetition is no signal."""
    if not config.get("repetition", True):
        return None
    return frozenset(split_lines(content, WORDS)) - {""}


def date_words(config: Mapping[str, Any]) -> frozenset[str] | None:
    """Return the words of dates; None if dates are not entities."""
    return None if config.get("dates") is None else frozenset(config["dates"])


def shared_gates(config: Mapping[str, Any]) -> dict[str, SharedGates]:
    """Return the gates of repeated words; empty if the model was not adapted to texts."""
    gates = {}
    for word, values in config.get("shared_gates", {}).items():
        own = SharedGates(*map(float, values))
        require_number("shared_gates", own.share, at_least=0, at_most=1)
        for value in own:
            require_number("shared_gates", value, above=-math.inf, below=math.inf)
        gates[word] = own
    return gates


def date_expressions(config: Mapping[str, Any]) -> DateExpressions | None:
    """Return the words of dates; None if the model was not adapted to texts with dates."""
    values = config.get("date_expressions")
    if values is None:
        return None
    lists = {name: frozenset(map(str, values[name])) for name in DATE_WORDS}
    return DateExpressions(**lists, numerals_follow=values["numerals_follow"] is True)


def date_expressions_config(expressions: DateExpressions) -> dict[str, Any]:
    """Return the values that `date_expressions` reads."""
    lists = {name: sorted(getattr(expressions, name)) for name in DATE_WORDS}
    return lists | {"numerals_follow": expressions.numerals_follow}


def min_word_score(config: Mapping[str, Any]) -> float:
    """Return the smallest score of a word that joins a span."""
    return float(config.get("joining", MIN_WORD_SCORE))


def signal_weights(config: Mapping[str, Any]) -> SignalWeights:
    """Return the weights of the signals besides the gates of one selector.

    config: of the model, for the selector that finds entities, or one of its "others"
    """
    return SignalWeights(**finite_numbers(config["trust"]))


def span_model(config: Mapping[str, Any]) -> SpanModel | None:
    """Return the probabilities of spans with one selector; None to decode runs of words."""
    spans = config.get("spans")
    if spans is None:
        return None
    return SpanModel(**{name: float(value) for name, value in spans.items()})


def gate_options(config: Mapping[str, Any]) -> dict[str, float]:
    """Return the arguments of the gate's form; before version 0.3 all had their defaults."""
    return finite_numbers(config.get("gate", {}))


def finite_numbers(values: Mapping[str, Any]) -> dict[str, float]:
    """Return the values as numbers; raise InputError for NaN and infinity."""
    numbers = {name: float(value) for name, value in values.items()}
    for name, value in numbers.items():
        require_number(name, value, above=-math.inf, below=math.inf)
    return numbers


def weights_of_selector(weights: Mapping[str, T], number: int) -> dict[str, T]:
    """Return the weights of one selector; names after the first start with its index."""
    prefix = f"{number}." if number else ""
    return {
        name.removeprefix(prefix): value
        for name, value in weights.items()
        if name.startswith(prefix) and not name.removeprefix(prefix)[:1].isdigit()
    }


def signal_extractor(
    weights: SignalWeights,
    spans: SpanModel | None,
    *,
    ordinary: frozenset[str] | None,
    not_names: frozenset[str],
    dates: frozenset[str] | None,
    shared_gates: Mapping[str, SharedGates] | None = None,
    date_expressions: DateExpressions | None = None,
) -> SignalExtractor:
    """Return the extractor of a model with these weights, and with or without a span model."""
    return SignalExtractor(
        ordinary=ordinary,
        not_names=not_names,
        dates=dates,
        strict_headlines=spans is not None,
        caseless=weights.caseless != 0,
        shared_gates=shared_gates,
        date_expressions=date_expressions,
    )
