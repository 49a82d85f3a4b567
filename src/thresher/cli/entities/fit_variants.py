"""The switches of `thresher fit`: variants of what is gated, read and contrasted.

As in `fit_options`, what is not given is left to the library, and words to choose from are
written out.
"""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import typer

from thresher.cli.option_values import given, number, one_of, share, whole_number
from thresher.errors import InputError

UNITS = ("word", "subword")
FILTERS = ("low", "high", "band")
RELATIONS = ("align", "repel")

_SWITCHES = "Switches"
_SEVERAL = "Several selectors"


class Passed(NamedTuple):
    """The frequencies that a filter lets pass."""

    kind: str
    cutoff: float
    upper: float = 1.0


def passed(value: str) -> Passed:
    """Read `low=0.3`, `high=0.3` or `band=0.1-0.5`."""
    kind, equals, cutoffs = value.partition("=")
    low, dash, high = cutoffs.partition("-")
    if not equals or bool(dash) != (kind == "band"):
        form = "band=0.1-0.5" if kind == "band" else "low=0.3, high=0.3 or band=0.1-0.5"
        raise typer.BadParameter(f"{value!r} is not of the form {form}")
    chosen = one_of(*FILTERS)(kind)
    return Passed(chosen, share(low), share(high)) if dash else Passed(chosen, share(low))


def layer_or_mean(value: str) -> int | str:
    """Read the number of a layer, or the word mean."""
    if value == "mean":
        return value
    if value.isascii() and value.isdigit() and int(value) >= 1:
        return int(value)
    raise typer.BadParameter(f"{value!r} is neither a layer from 1 on nor the word mean")


def rate_or_none(value: str) -> float | str:
    """Read a rate, or the word none."""
    return value if value == "none" else share(value)


Unit = Annotated[
    str | None,
    typer.Option(
        parser=one_of(*UNITS),
        metavar="UNIT",
        rich_help_panel=_SWITCHES,
        help="What gets a gate of its own: a word, or each subword of it.",
    ),
]
Attention = Annotated[
    int | None,  # or the word mean; the parser decides
    typer.Option(
        parser=layer_or_mean,
        metavar="LAYER",
        rich_help_panel=_SWITCHES,
        help="Also read how much attention a word receives and pays: in a layer of the "
        "encoder, or the mean of those it reads.",
    ),
]
Filter = Annotated[
    Passed | None,
    typer.Option(
        "--filter",
        parser=passed,
        metavar="KIND=CUTOFF",
        rich_help_panel=_SWITCHES,
        help="Compare only some frequencies of sentence vectors: low=0.3, high=0.3 or "
        "band=0.1-0.5, as fractions of the highest.",
    ),
]
Selectors = Annotated[
    int | None,
    typer.Option(
        parser=whole_number(low=1),
        metavar="N",
        rich_help_panel=_SEVERAL,
        help="How many selectors to train together; find --selector picks one.",
    ),
]
Relation = Annotated[
    str | None,
    typer.Option(
        parser=one_of(*RELATIONS),
        metavar="NAME",
        rich_help_panel=_SEVERAL,
        help="align: they agree; repel: each finds another kind of word.",
    ),
]
Divergence = Annotated[
    float | None,
    typer.Option(
        parser=number(low=0),
        metavar="WEIGHT",
        rich_help_panel=_SEVERAL,
        help="The weight of the divergence between their gates.",
    ),
]
DivergenceCap = Annotated[
    float | None,
    typer.Option(
        parser=number(low=0),
        metavar="NATS",
        rich_help_panel=_SEVERAL,
        help="The divergence beyond which they repel each other no more.",
    ),
]


def check_contrast(weight: float | None, **options: object) -> None:
    """Refuse to be told how to contrast and not to do it."""
    named = [name for name, value in options.items() if value is not None]
    if weight == 0 and named:
        option = named[0].strip("_").replace("_", "-")
        raise InputError(f"--{option} is for the contrast, which --contrast 0 leaves out")


def switches(
    *,
    unit: str | None,
    attention: int | str | None,
    filter_: Passed | None,
    selectors: int | None,
    sparsity: list[float] | None,
    target_rate: Sequence[float | str] | None,
    **dual: Any,
) -> dict[str, Any]:
    """The settings that were given; one weight or rate is for all selectors, several for each."""
    from thresher.gates.variants import DualModels, FourierFilter  # noqa: PLC0415 (torch)

    several = given(**dual)
    rates = [None if rate == "none" else rate for rate in target_rate or []]
    if len(sparsity or []) > 1:
        several["sparsity"] = tuple(sparsity or [])
    if len(rates) > 1:
        several["target_rates"] = tuple(rates)
    together = (selectors or 1) > 1
    if several and not together:
        raise InputError(
            "several weights or rates, a relation or a divergence need --selectors of at least 2"
        )
    if several.get("relation") == "align" and "cap" in several:
        raise InputError("--divergence-cap is for --relation repel, which knows no other end")
    return given(
        unit=unit,
        attention=attention,
        filter=filter_ and FourierFilter(**filter_._asdict()),
        dual=DualModels(selectors=selectors or 2, **several) if together else None,
        sparsity=sparsity[0] if sparsity and len(sparsity) == 1 else None,
        target_rate=rates[0] if len(rates) == 1 else None,
    )
