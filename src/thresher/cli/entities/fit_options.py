"""The options of `thresher fit` for encoder and training; the library has the defaults."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from thresher.cli.entities.fit_variant_options import SelectorOptions, VariantOptions
from thresher.cli.option_groups import (
    OptionGroup,
    flag,
    number_option,
    option,
    rate_option,
    weight_option,
)
from thresher.cli.options import TRAINING, Epochs, Form, GatesAt, Seed
from thresher.encoders.choices import EncoderSize
from thresher.errors import InputError
from thresher.gates.choices import GateForm

if TYPE_CHECKING:
    from thresher import EntitySettings

_SMALLEST_TEMPERATURE = 1e-3


@dataclass(frozen=True, kw_only=True)
class EncoderOptions(OptionGroup):
    """Which encoder to use."""

    encoder: Annotated[
        str | None,
        option(
            "An encoder: a folder, a name on the Hub, or multilingual; by default "
            "all-MiniLM-L6-v2. A+B joins the vectors of two. Of several, separated by commas, the "
            "one that fits the text best is chosen without labels; with --train-encoder, the "
            "choice is between this one, the new one, and both together.",
            "--encoder",
            metavar="NAME",
        ),
    ] = None
    layer: Annotated[
        int | None,
        number_option(
            "Layer of the encoder whose hidden states are used; by default two thirds of the way "
            "up. Higher layers are not computed when finding."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class TrainingOptions(OptionGroup):
    """Hyper-parameters of training."""

    panel = TRAINING

    epochs: Epochs = None
    seed: Seed = None
    contrast: Annotated[
        float | None,
        weight_option(
            "Weight of the contrastive loss, which compares a sentence with and without its "
            "selected words; 0 trains on the prior alone."
        ),
    ] = None
    contrast_share: Annotated[
        float | None,
        rate_option("Fraction of batches on which the contrastive loss is computed."),
    ] = None
    temperature: Annotated[
        float | None,
        option(
            "Temperature τ of the contrastive loss.", metavar="NUMBER", min=_SMALLEST_TEMPERATURE
        ),
    ] = None
    complement: Annotated[
        float | None,
        weight_option("Weight λ_cmp of the words that are not selected in the contrastive loss."),
    ] = None
    continuity: Annotated[
        float | None,
        weight_option("Weight λ_tv of the differences between neighbouring gates."),
    ] = None
    agreement: Annotated[
        float | None,
        weight_option("Weight λ_e of the agreement with the prior."),
    ] = None
    gates_at: GatesAt = None
    form: Form = None
    gate_threshold: Annotated[
        float | None,
        option(
            "A thresholded or continuous gate is open above this value.",
            metavar="NUMBER",
            min=0,
            max=1,
        ),
    ] = None
    stretch_lower: Annotated[
        float | None,
        option("Lower end of the interval of stretched gates, below 0.", metavar="NUMBER", max=0),
    ] = None
    stretch_upper: Annotated[
        float | None,
        option("Upper end of the interval of stretched gates, above 1.", metavar="NUMBER", min=1),
    ] = None

    def check(self) -> None:
        """Raise `InputError` if an option is given that the form of the gates does not have."""
        stretched = self.form == GateForm.STRETCHED
        if self.gate_threshold is not None and stretched:
            raise InputError("`gate_threshold` is not used with `form` stretched")
        if not stretched and not (self.stretch_lower is self.stretch_upper is None):
            raise InputError("`stretch_lower` and `stretch_upper` need `form` stretched")


@dataclass(frozen=True, kw_only=True)
class EncoderTrainingOptions(OptionGroup):
    """Whether to train an encoder on the same text, and which size."""

    panel = "Training an encoder"

    train_encoder: Annotated[
        bool,
        flag(
            "First train an encoder on the same text and save it in FOLDER-encoder, for languages "
            "without a pretrained encoder.",
            "--train-encoder",
        ),
    ] = False
    encoder_size: Annotated[
        EncoderSize | None,
        option(
            "small (an hour on two cores) or large (minutes on a GPU); by default large if there "
            "is a GPU.",
            metavar="SIZE",
        ),
    ] = None

    def check(self) -> None:
        """Raise `InputError` if only a size is given."""
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
