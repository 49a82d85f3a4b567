"""Load a model with its encoder, in int8 where model and CPU support it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor

from thresher.encoders import Encoder, load_encoder
from thresher.encoders.int8_linear import int8_supported
from thresher.encoders.loading import choose_device
from thresher.encoders.protocol import Int8Encoder, LayeredEncoder
from thresher.entities.int8_gates import RANGE, normalized_range
from thresher.entities.model import FinderModel
from thresher.errors import InputError
from thresher.gates.features import Features
from thresher.model_folder import config_errors_as_input_errors

_CALIBRATION_SENTENCES = 300  # about this many; ten would suffice to measure input ranges
_SENTENCES_PER_BATCH = 64


def load_with_encoder(
    folder: Path, *, device: str | None, exact: bool
) -> tuple[Encoder, FinderModel]:
    """Load the model of a folder and its encoder.

    exact: compute in single precision, even if the model and the CPU support less
    """
    model = FinderModel.read(folder)
    if model.static is None:
        layer = None if model.layers else model.layer
        encoder: Encoder = load_encoder(
            model.encoder, layer=layer, device=device, near=folder.parent
        )
        encoder = _with_layers(encoder, model, folder)
    else:
        model.static.exact = exact
        encoder = model.static.to(choose_device(device))
    model = model.checked_for(encoder)
    if exact:
        return encoder, model
    with config_errors_as_input_errors(folder):
        return in_int8(encoder, model.ranges), model


def loaded_encoders(encoder: Encoder | str | Sequence[Encoder | str] | None) -> list[Encoder]:
    """Return the encoder or all of several, loaded if given by name; without one, the default."""
    if encoder is None:
        return [load_encoder()]
    several = (
        [encoder] if isinstance(encoder, str) or not isinstance(encoder, Sequence) else encoder
    )
    return [load_encoder(each) if isinstance(each, str) else each for each in several]


def input_ranges(encoder: Encoder, sentences: Sequence[Sequence[str]]) -> dict[str, Tensor]:
    """Return the input ranges of linear layers on some sentences, if the encoder supports int8.

    These are the layers of the encoder, and the first layers of the gates.
    """
    if not isinstance(encoder, Int8Encoder):
        return {}
    sample = list(sentences[:: max(1, len(sentences) // _CALIBRATION_SENTENCES)])
    ranges = encoder.input_ranges(sample)
    if ranges:
        vectors = [
            Features().encode(encoder, sample[low : low + _SENTENCES_PER_BATCH])
            for low in range(0, len(sample), _SENTENCES_PER_BATCH)
        ]
        ranges[RANGE] = normalized_range(torch.cat(vectors)).cpu()
    return ranges


def in_int8(encoder: Encoder, ranges: Mapping[str, Tensor]) -> Encoder:
    """Return the encoder in int8 if its ranges are known and the CPU supports it."""
    if not ranges or encoder.device.type != "cpu" or not int8_supported():
        return encoder
    return encoder.to_int8(ranges) if isinstance(encoder, Int8Encoder) else encoder


def _with_layers(encoder: Encoder, model: FinderModel, folder: Path) -> Encoder:
    """Return the encoder with the layers that are saved with the model, if there are any."""
    if not model.layers:
        return encoder
    with config_errors_as_input_errors(folder):
        if not isinstance(encoder, LayeredEncoder):
            raise InputError(f"the layers of {model.encoder} cannot be replaced")
        return encoder.with_layers(model.layers)
