"""The options of `thresher fit` for variants of the gates, and for several selectors."""

from dataclasses import dataclass
from typing import Annotated, Any

from thresher.cli.option_groups import OptionGroup, number_option, option, weight_option
from thresher.cli.option_parsers import (
    FilterChoice,
    parse_filter,
    parse_layer_or_mean,
    parse_rate_or_none,
)
from thresher.cli.options import TRAINING
from thresher.errors import InputError
from thresher.gates.choices import GateUnit, SelectorRelation


@dataclass(frozen=True, kw_only=True)
class VariantOptions(OptionGroup):
    """Variants of what has a gate, what the selector sees and what is contrasted."""

    panel = "Variants"

    unit: Annotated[
        GateUnit | None,
        option("What has a gate: each word, or each subword.", metavar="UNIT"),
    ] = None
    attention: Annotated[
        int | None,  # or the word mean, which the parser accepts
        option(
            "Also use how much attention each word receives and pays: in this layer of the "
            "encoder, or the mean of its layers (mean).",
            parser=parse_layer_or_mean,
            metavar="LAYER",
        ),
    ] = None
    filter_: Annotated[
        FilterChoice | None,
        option(
            "Compare only some frequencies of sentence vectors: low=0.3, high=0.3 or band=0.1-0.5, "
            "as fractions of the highest frequency.",
            "--filter",
            parser=parse_filter,
            metavar="KIND=CUTOFF",
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `EntitySettings` for these options."""
        values = self.given_options()
        if self.filter_ is not None:
            from thresher.gates.variants import FourierFilter  # noqa: PLC0415 (torch)

            values["filter"] = FourierFilter(**values.pop("filter_")._asdict())
        return values


@dataclass(frozen=True, kw_only=True)
class SelectorOptions(OptionGroup):
    """How many words gates select, and several selectors trained together."""

    panel = "Several selectors"

    sparsity: Annotated[
        list[float] | None,
        weight_option(
            "Weight of the sparsity loss, which keeps gates closed; may be repeated, once for each "
            "selector.",
            rich_help_panel=TRAINING,
        ),
    ] = None
    target_rate: Annotated[
        list[float] | None,  # or the word none, which the parser accepts
        option(
            "Keep the fraction of open gates at this rate with a Lagrange multiplier; may be "
            "repeated, a rate or none for each selector.",
            parser=parse_rate_or_none,
            metavar="RATE",
            rich_help_panel=TRAINING,
        ),
    ] = None
    selectors: Annotated[
        int | None,
        number_option("Number of selectors to train together; find --selector uses one of them."),
    ] = None
    relation: Annotated[
        SelectorRelation | None,
        option(
            "align: selectors should agree; repel: each should find other words.", metavar="NAME"
        ),
    ] = None
    weight: Annotated[
        float | None,
        option(
            "Weight of the divergence between the gates of the selectors.",
            "--divergence",
            metavar="WEIGHT",
            min=0,
        ),
    ] = None
    cap: Annotated[
        float | None,
        option(
            "Divergence above which selectors no longer repel each other.",
            "--divergence-cap",
            metavar="NATS",
            min=0,
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `EntitySettings`; one weight or rate is for all selectors."""
        rates = [rate if isinstance(rate, float) else None for rate in self.target_rate or []]
        dual = {
            name: value
            for name, value in self.given_options().items()
            if name in ("relation", "weight", "cap")
        }
        settings: dict[str, Any] = {}
        for single, several, values in (
            ("sparsity", "sparsity", self.sparsity or []),
            ("target_rate", "target_rates", rates),
        ):
            if len(values) > 1:
                dual[several] = tuple(values)
            elif values and values[0] is not None:
                settings[single] = values[0]
        if self.selectors is not None and self.selectors > 1:
            self._check_cap()
            from thresher.gates.variants import DualModels  # noqa: PLC0415 (torch)

            settings["dual"] = DualModels(selectors=self.selectors, **dual)
        elif dual:
            raise InputError(
                "several weights or rates, `relation`, `weight` and `cap` need `selectors` of at "
                "least 2"
            )
        return settings

    def _check_cap(self) -> None:
        if self.relation == SelectorRelation.ALIGN and self.cap is not None:
            raise InputError("`cap` is only used with `relation` repel")
