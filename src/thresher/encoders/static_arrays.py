"""Read the files of a static encoder as arrays, without torch."""

from collections.abc import Mapping

import numpy as np
from tokenizers import Tokenizer

from thresher.array_files import (
    Arrays,
    load_arrays,
    require_array_shapes,
    require_finite_arrays,
)
from thresher.lm.tokens.library_tokenizers import read_library_tokenizer, require_ids_below

WEIGHTS, TOKENIZER = "encoder.safetensors", "tokenizer.json"
FILES = (WEIGHTS, TOKENIZER)


def read_arrays(files: Mapping[str, bytes]) -> tuple[Arrays, Tokenizer]:
    """Return the weights of a static encoder by name, in float32, and its tokenizer.

    Raises ValueError for weights that do not fit together. The number of layers and the reach
    follow from their shapes.
    """
    arrays = load_arrays(files[WEIGHTS], WEIGHTS)
    integers, scales = arrays.pop("vectors"), arrays.pop("scales")
    if integers.ndim != 2 or scales.shape != integers.shape[:1]:
        raise ValueError(f"vectors of shape {list(integers.shape)} need one scale per row")
    tokenizer = _tokenizer(files[TOKENIZER])
    require_ids_below(len(integers), tokenizer)
    width, inputs = arrays["mixing.0.weight"].shape
    layers = sum(name.startswith("mixing.") and name.endswith(".weight") for name in arrays)
    needed: dict[str, tuple[int, ...]] = {"edge": (width,)}
    for number in range(layers):
        needed[f"mixing.{number}.weight"] = (width, (2 * _reach(width, inputs) + 1) * width)
        for name in (f"mixing.{number}.bias", f"norms.{number}.weight", f"norms.{number}.bias"):
            needed[name] = (width,)
    require_array_shapes(arrays, needed, "the weights")
    if integers.shape[1] != width:
        raise ValueError(f"vectors of width {integers.shape[1]} do not fit layers of width {width}")
    weights = {name: value.astype(np.float32) for name, value in arrays.items()}
    with np.errstate(over="ignore"):  # what is not finite is refused below
        weights["vectors"] = integers.astype(np.float32) * scales.astype(np.float32)[:, None]
    require_finite_arrays(weights, "the weights")
    return weights, tokenizer


def reach_of(weights: Arrays) -> int:
    """Return the number of neighbours on each side that one layer mixes."""
    width, inputs = weights["mixing.0.weight"].shape
    return _reach(width, inputs)


def _reach(width: int, inputs: int) -> int:
    return (inputs // max(width, 1) - 1) // 2


def _tokenizer(content: bytes) -> Tokenizer:
    try:
        return read_library_tokenizer(content.decode())
    except Exception as error:  # the library raises no specific type
        raise ValueError(f"{TOKENIZER} contains no tokenizer: {error}") from error
