"""Load tensors from safetensors files that may come from anyone, and build modules from them.

The memory needed is proportional to the size of the file: a module is built without memory first
(on torch's meta device), and its tensors are loaded only if all their shapes match.
"""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import torch
from safetensors.torch import load, load_file
from torch import Tensor, nn

from thresher.array_files import require_array_shapes
from thresher.errors import InputError
from thresher.untrusted_files import check_weights, check_weights_file

Module = TypeVar("Module", bound=nn.Module)


def load_tensors(content: bytes, name: str, *, allow_empty: bool = False) -> dict[str, Tensor]:
    """Load the tensors of a safetensors file.

    name: the name of the file, for error messages   allow_empty: accept tensors without elements
    """
    _check_sizes(check_weights(content, name), name, allow_empty=allow_empty)
    return load(content)


def load_tensors_file(path: Path) -> dict[str, Tensor]:
    """Load the tensors of a safetensors file, mapped into memory."""
    _check_sizes(check_weights_file(path), str(path), allow_empty=False)
    return load_file(path)


def _check_sizes(shapes: Mapping[str, list[int]], name: str, *, allow_empty: bool) -> None:
    for key, shape in shapes.items():
        if 0 in shape and not allow_empty:
            raise InputError(f"{name}: the tensor {key!r} is empty, its shape is {shape}")


def require_finite(tensors: Mapping[str, Tensor], name: str) -> None:
    """Raise InputError if a tensor contains NaN or infinite values; `name` is for the message."""
    for key, value in tensors.items():
        if value.is_floating_point() and value.numel():
            low, high = value.detach().aminmax()
            if not bool(torch.isfinite(low) & torch.isfinite(high)):
                raise InputError(f"{name}: the tensor {key!r} has NaN or infinite values")


def require_shapes(given: Mapping[str, Tensor], needed: Mapping[str, Tensor]) -> None:
    """Raise ValueError unless both have the same names and shapes."""
    shapes = {key: tuple(each.shape) for key, each in needed.items()}
    require_array_shapes(given, shapes, "the weights")


def build_module(build: Callable[[], Module], tensors: Mapping[str, Tensor]) -> Module:
    """Build a module with the given tensors; names or shapes that do not match are a ValueError.

    build: creates the module; all its tensors must be in its state_dict
    tensors: converted to the dtypes of the module; NaN and infinite values are an InputError
    """
    with torch.device("meta"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of layers without elements; refused below
        module = build()
    state = module.state_dict()
    require_shapes(tensors, state)
    converted = {name: value.to(state[name].dtype) for name, value in tensors.items()}
    require_finite(converted, "the weights")
    module.load_state_dict(converted, assign=True)
    return module
