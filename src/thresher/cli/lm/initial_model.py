"""The option --init-from: read a model to continue training from."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from thresher.cli.lm.options import OutputLayerOptions, TokenizerOptions
from thresher.errors import InputError
from thresher.lm.choices import Objective, OutputLayerName

if TYPE_CHECKING:
    from thresher.lm.training.fit import InitialModel


def read_initial_model(folder: Path) -> "InitialModel":
    """Read a model of this library, or one of transformers."""
    from thresher.lm.pretrained.folder import (  # noqa: PLC0415 (torch)
        is_pretrained_folder,
        read_pretrained,
    )
    from thresher.lm.trained_model import TrainedLanguageModel  # noqa: PLC0415

    if is_pretrained_folder(folder):
        return read_pretrained(folder)
    return TrainedLanguageModel.read(folder)


def check_same_components(
    initial: "InitialModel", tokenizer: TokenizerOptions, output_layer: OutputLayerOptions
) -> None:
    """Raise InputError if options ask for other components than those of the initial model.

    Options with their default values are taken as not given. Options that repeat what the model
    has are allowed: its run.toml contains them.
    """
    architecture = initial.architecture
    causal = architecture.shape.causal
    components: dict[str, tuple[Any, Any, Any]] = {  # given, default, of the initial model
        "tokens": (tokenizer.tokens, None, initial.tokenizer.kind),
        "vocabulary": (tokenizer.vocabulary, None, initial.tokenizer.vocabulary),
        "objective": (
            tokenizer.objective,
            Objective.CAUSAL,
            Objective.CAUSAL if causal else Objective.MASKED,
        ),
        "output_layer": (output_layer.output_layer, OutputLayerName.FULL, architecture.output),
        "untied": (output_layer.untied, False, not architecture.tied),
    }
    for name, (given, default, initial_value) in components.items():
        if given not in (default, initial_value):
            raise InputError(
                f"`{name}` is {given}, but the model to start from has {initial_value}; "
                f"leave out `{name}`"
            )
