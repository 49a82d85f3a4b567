"""The weights of a BERT model in `transformers`: their names, dtypes and shapes."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from thresher.errors import InputError

Weights = Mapping[str, Tensor]  # with the names that `transformers` uses

WORD_EMBEDDINGS = "embeddings.word_embeddings.weight"
_OLD_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}


def is_plain_bert(config: Mapping[str, Any]) -> bool:
    """Return True if `Bert` computes the same as a `transformers` model of this configuration."""
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type") in (None, "absolute")
        and not config.get("is_decoder")
        and not config.get("quantization_config")
    )


def with_current_names(weights: Weights) -> dict[str, Tensor]:
    """Return the weights in float32 under the names that `transformers` uses today.

    Word embeddings in float16 stay in float16.
    """
    return {_current_name(name): _in_float32(name, value) for name, value in weights.items()}


def check_shapes(weights: Weights, *, layers: int, heads: int) -> None:
    """Raise InputError unless all shapes fit the width of the word embeddings.

    Shapes that do not fit could still be added to one another, and the sum of a row and a column
    can be much larger than both.
    """
    width = weights[WORD_EMBEDDINGS].shape[-1]
    if not (isinstance(heads, int) and heads >= 1 and width % heads == 0):
        raise InputError(f"the width {width} is not a multiple of the {heads} attention heads")
    if not (isinstance(layers, int) and 1 <= layers <= len(weights)):
        raise InputError(f"the number of layers is {layers}, but there are {len(weights)} weights")
    first = "encoder.layer.0.intermediate.dense.weight"
    inner = len(weights[first]) if first in weights else width
    for name, value in weights.items():
        if name.startswith(("embeddings.", "encoder.layer.")):
            needed = _needed_shape(name, len(value) if value.dim() else 0, width, inner)
            if needed is not None and tuple(value.shape) != needed:
                shapes = f"{tuple(value.shape)}, but must have {needed}"
                raise InputError(f"{name} has the shape {shapes}")


def _needed_shape(name: str, rows: int, width: int, inner: int) -> tuple[int, ...] | None:
    """Return the shape that a weight must have; None if `Bert` does not use it.

    rows: the number of rows of the weight; embeddings may have any number of rows
    width: of the hidden states   inner: the width of the feed-forward layers
    """
    parameter = name.rpartition(".")[2]
    if name.endswith("embeddings.weight"):
        return (rows, width)
    if parameter not in ("weight", "bias"):
        return None
    if "LayerNorm" in name or parameter == "bias":
        return (inner if ".intermediate." in name else width,)
    if ".intermediate." in name:
        return (inner, width)
    return (width, width) if ".attention." in name else (width, inner)


def _current_name(name: str) -> str:
    """Return the current name of a weight, without the prefix that models with a head have."""
    name = name.removeprefix("bert.")
    for old, current in _OLD_NAMES.items():
        name = name.replace(old, current)
    return name


def _in_float32(name: str, value: Tensor) -> Tensor:
    is_table = name.endswith("word_embeddings.weight") and value.dtype == torch.float16
    return value if is_table else value.float()
