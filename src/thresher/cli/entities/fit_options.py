"""The options of `thresher fit`, in groups; the library has defaults for those not given."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from thresher.cli.option_groups import OptionGroup, flag, number_option, option
from thresher.cli.option_parsers import (
    ExpectedRate,
    FilterChoice,
    parse_expected_rate,
    parse_filter,
    parse_layer_or_mean,
    parse_rate_or_none,
    word_list,
)
from thresher.cli.options import TRAINING, EncoderName, Epochs, Form, GatesAt, Seed
from thresher.encoders.choices import EncoderSize
from thresher.entities.choices import PriorName
from thresher.entities.kinds.examples import KindExamples
from thresher.errors import InputError
from thresher.gates.choices import GateForm, GateUnit, SelectorRelation

if TYPE_CHECKING:
    from thresher import EntitySettings

_ENCODER = "Training an encoder"
_SMALLEST_TEMPERATURE = 1e-3

_prior_option = partial(option, rich_help_panel="Prior knowledge")
_training_option = partial(option, rich_help_panel=TRAINING)
_variant_option = partial(option, rich_help_panel="Variants")
_selectors_option = partial(option, rich_help_panel="Several selectors")


@dataclass(frozen=True, kw_only=True)
class EncoderOptions(OptionGroup):
    """Which encoder to use."""

    encoder: EncoderName = None
    layer: Annotated[
        int | None,
        number_option(
            "Layer of the encoder whose hidden states are used; by default two thirds of the way "
            "up. Higher layers are not computed when finding."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class PriorOptions(OptionGroup):
    """Prior knowledge about entities."""

    prior: Annotated[
        list[PriorName] | None,
        _prior_option(
            f"{', '.join(PriorName)}. Repeat it to combine priors: each word gets its probability "
            "from the first that has one. --dates, --names and --not-names come before them; "
            "--expect and --selected replace them. By default priors that suit the script.",
            metavar="NAME",
        ),
    ] = None
    names: Annotated[str | None, _prior_option("File of words that are names.", metavar="FILE")] = (
        None
    )
    not_names: Annotated[
        str | None,
        _prior_option(
            "File of words that are not names; by default English days, months, titles and "
            "pronouns. The word none stands for an empty list.",
            metavar="FILE",
        ),
    ] = None
    expect: Annotated[
        list[ExpectedRate] | None,
        _prior_option(
            "Expected fraction of entities among words that are capitalised, lower, rare or "
            "repeated, for example capitalised=0.85; may be repeated.",
            parser=parse_expected_rate,
            metavar="FEATURE=RATE",
        ),
    ] = None
    selected: Annotated[
        float | None,
        _prior_option(
            "Expected fraction of entities among all words, for example 0.12.",
            metavar="RATE",
            min=0,
            max=1,
        ),
    ] = None
    cldr: Annotated[
        str | None,
        _prior_option(
            "Code of a language, for example am: its names of territories and languages in Unicode "
            r"CLDR are used as names; needs thresher\[cldr].",
            metavar="CODE",
        ),
    ] = None
    dates: Annotated[
        bool,
        flag("Dates with a year are entities, too.", "--dates", rich_help_panel="Prior knowledge"),
    ] = False
    kinds: Annotated[
        str | None,
        _prior_option(
            "TOML or JSON file with example names of each kind. Each kind gets a gate of its own, "
            "which also finds entities of this kind that nothing else shows to be one.",
            metavar="FILE",
        ),
    ] = None
    surprisal: Annotated[
        str | None,
        _prior_option(
            "Causal language model with word-pairs tokens, for --prior surprisal.", metavar="FOLDER"
        ),
    ] = None

    def check(self) -> None:
        """Raise `InputError` unless the surprisal prior and its language model come together."""
        has_prior = PriorName.SURPRISAL in (self.prior or ())
        if self.surprisal is not None and not has_prior:
            raise InputError("`surprisal` is used by the surprisal prior; add --prior surprisal")
        if has_prior and self.surprisal is None:
            raise InputError(
                "the surprisal prior needs a causal language model; add `surprisal` FOLDER"
            )

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `PriorKnowledge`, without the surprisal of the text."""
        names = word_list(self.names)
        if self.cldr is not None:
            from thresher.entities.priors.word_lists import cldr_names  # noqa: PLC0415 (babel)

            names |= cldr_names(self.cldr)
        arguments: dict[str, Any] = {"names": names, "dates": self.dates}
        if self.not_names is not None:
            none = self.not_names == "none"
            arguments["not_names"] = frozenset() if none else word_list(self.not_names)
        if self.prior is not None:
            arguments["priors"] = self.prior
        if self.expect:
            arguments["rates"] = dict(self.expect)
        if self.selected is not None:
            arguments["selected"] = self.selected
        return arguments

    def read_kinds(self) -> KindExamples | None:
        """Return the example names of kinds, if a file of them is given."""
        return None if self.kinds is None else KindExamples.read(self.kinds)


@dataclass(frozen=True, kw_only=True)
class TrainingOptions(OptionGroup):
    """Hyper-parameters of training."""

    epochs: Epochs = None
    seed: Seed = None
    contrast: Annotated[
        float | None,
        _training_option(
            "Weight of the contrastive loss, which compares a sentence with and without its "
            "selected words; 0 trains on the prior alone.",
            metavar="WEIGHT",
            min=0,
        ),
    ] = None
    contrast_share: Annotated[
        float | None,
        _training_option(
            "Fraction of batches on which the contrastive loss is computed.",
            metavar="RATE",
            min=0,
            max=1,
        ),
    ] = None
    temperature: Annotated[
        float | None,
        _training_option(
            "Temperature τ of the contrastive loss.", metavar="NUMBER", min=_SMALLEST_TEMPERATURE
        ),
    ] = None
    complement: Annotated[
        float | None,
        _training_option(
            "Weight λ_cmp of the words that are not selected in the contrastive loss.",
            metavar="WEIGHT",
            min=0,
        ),
    ] = None
    continuity: Annotated[
        float | None,
        _training_option(
            "Weight λ_tv of the differences between neighbouring gates.", metavar="WEIGHT", min=0
        ),
    ] = None
    agreement: Annotated[
        float | None,
        _training_option("Weight λ_e of the agreement with the prior.", metavar="WEIGHT", min=0),
    ] = None
    gates_at: GatesAt = None
    form: Form = None
    gate_threshold: Annotated[
        float | None,
        _training_option(
            "A thresholded or continuous gate is open above this value.",
            metavar="NUMBER",
            min=0,
            max=1,
        ),
    ] = None
    stretch_lower: Annotated[
        float | None,
        _training_option(
            "Lower end of the interval of stretched gates, below 0.", metavar="NUMBER", max=0
        ),
    ] = None
    stretch_upper: Annotated[
        float | None,
        _training_option(
            "Upper end of the interval of stretched gates, above 1.", metavar="NUMBER", min=1
        ),
    ] = None

    def check(self) -> None:
        """Raise `InputError` if an option is given that the form of the gates does not have."""
        stretched = self.form == GateForm.STRETCHED
        if self.gate_threshold is not None and stretched:
            raise InputError("`gate_threshold` is not used with `form` stretched")
        if not stretched and not (self.stretch_lower is self.stretch_upper is None):
            raise InputError("`stretch_lower` and `stretch_upper` need `form` stretched")


@dataclass(frozen=True, kw_only=True)
class VariantOptions(OptionGroup):
    """Variants of what has a gate, what the selector sees and what is contrasted."""

    unit: Annotated[
        GateUnit | None,
        _variant_option("What has a gate: each word, or each subword.", metavar="UNIT"),
    ] = None
    attention: Annotated[
        int | None,  # or the word mean, which the parser accepts
        _variant_option(
            "Also use how much attention each word receives and pays: in this layer of the "
            "encoder, or the mean of its layers (mean).",
            parser=parse_layer_or_mean,
            metavar="LAYER",
        ),
    ] = None
    filter_: Annotated[
        FilterChoice | None,
        _variant_option(
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

    sparsity: Annotated[
        list[float] | None,
        _training_option(
            "Weight of the sparsity loss, which keeps gates closed; may be repeated, once for each "
            "selector.",
            metavar="WEIGHT",
            min=0,
        ),
    ] = None
    target_rate: Annotated[
        list[float] | None,  # or the word none, which the parser accepts
        _training_option(
            "Keep the fraction of open gates at this rate with a Lagrangian; may be repeated, a "
            "rate or none for each selector.",
            parser=parse_rate_or_none,
            metavar="RATE",
        ),
    ] = None
    selectors: Annotated[
        int | None,
        _selectors_option(
            "Number of selectors to train together; find --selector uses one of them.",
            metavar="N",
            min=1,
        ),
    ] = None
    relation: Annotated[
        SelectorRelation | None,
        _selectors_option(
            "align: selectors should agree; repel: each should find other words.", metavar="NAME"
        ),
    ] = None
    weight: Annotated[
        float | None,
        _selectors_option(
            "Weight of the divergence between the gates of the selectors.",
            "--divergence",
            metavar="WEIGHT",
            min=0,
        ),
    ] = None
    cap: Annotated[
        float | None,
        _selectors_option(
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


@dataclass(frozen=True, kw_only=True)
class EncoderTrainingOptions(OptionGroup):
    """Whether to train an encoder on the same text, and which size."""

    train_encoder: Annotated[
        bool,
        flag(
            "First train an encoder on the same text and save it in FOLDER-encoder, for languages "
            "without a pretrained encoder.",
            "--train-encoder",
            rich_help_panel=_ENCODER,
        ),
    ] = False
    encoder_size: Annotated[
        EncoderSize | None,
        option(
            "small (an hour on two cores) or large (minutes on a GPU); by default large if there "
            "is a GPU.",
            metavar="SIZE",
            rich_help_panel=_ENCODER,
        ),
    ] = None

    def check(self, encoder: str | None) -> None:
        """Raise `InputError` if an encoder is given as well, or only a size."""
        if self.train_encoder and encoder is not None:
            raise InputError("give either `encoder` or `train_encoder`, not both")
        if self.encoder_size is not None and not self.train_encoder:
            raise InputError("`encoder_size` needs an encoder to train; add `train_encoder`")


def check_contrast(training: TrainingOptions, variants: VariantOptions) -> None:
    """Raise `InputError` if the contrastive loss is configured but has weight 0."""
    options = {
        "contrast_share": training.contrast_share,
        "temperature": training.temperature,
        "complement": training.complement,
        "continuity": training.continuity,
        "gates_at": training.gates_at,
        "filter": variants.filter_,
    }
    unused = [name for name, value in options.items() if value is not None]
    if training.contrast == 0 and unused:
        raise InputError(f"`{unused[0]}` is used by the contrastive loss; `contrast` 0 disables it")


def entity_settings(
    training: TrainingOptions, variants: VariantOptions, selectors: SelectorOptions
) -> "EntitySettings":
    """Return the settings for the options that were given."""
    from thresher import EntitySettings  # noqa: PLC0415 (torch)

    return EntitySettings(
        **training.given_options(), **variants.arguments(), **selectors.arguments()
    )
