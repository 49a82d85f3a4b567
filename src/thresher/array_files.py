"""Load arrays from safetensors files that may come from anyone, without torch."""

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load

from thresher.errors import InputError
from thresher.untrusted_files import check_weights

Arrays = dict[str, NDArray[Any]]
T = TypeVar("T")


def load_arrays(content: bytes, name: str, *, allow_empty: bool = False) -> Arrays:
    """Load the arrays of a safetensors file.

    name: the name of the file, for error messages   allow_empty: accept arrays without elements
    """
    for key, shape in check_weights(content, name).items():
        if 0 in shape and not allow_empty:
            raise InputError(f"{name}: the tensor {key!r} is empty, its shape is {shape}")
    arrays: Arrays = load(content)
    return arrays


def require_finite_arrays(arrays: Mapping[str, NDArray[Any]], name: str) -> None:
    """Raise InputError if an array contains NaN or infinite values; `name` is for the message."""
    for key, value in arrays.items():
        if np.issubdtype(value.dtype, np.floating) and not np.isfinite(value).all():
            raise InputError(f"{name}: the tensor {key!r} has NaN or infinite values")


def require_array_shapes(
    given: Mapping[str, Any], needed: Mapping[str, tuple[int, ...]], name: str
) -> None:
    """Raise ValueError unless the arrays or tensors have exactly these names and shapes."""
    for key in sorted(given.keys() | needed.keys()):
        shape = tuple(given[key].shape) if key in given else None
        if shape != needed.get(key):
            raise ValueError(
                f"{name} do not fit the configuration: {key} has the shape {shape}, "
                f"but the model needs {needed.get(key)}"
            )


def with_prefix(prefix: str, arrays: Mapping[str, T]) -> dict[str, T]:
    """Return the arrays or tensors with the prefix before their names."""
    return {f"{prefix}{name}": value for name, value in arrays.items()}


def without_prefix(prefix: str, arrays: Mapping[str, T]) -> dict[str, T]:
    """Return the arrays or tensors whose names start with the prefix, without it."""
    return {
        name.removeprefix(prefix): value
        for name, value in arrays.items()
        if name.startswith(prefix)
    }
