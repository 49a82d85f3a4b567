"""What the families of pretrained models have in common: types, and checks of settings."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from thresher.errors import InputError

Config = Mapping[str, Any]  # the content of config.json
Tensors = dict[str, Tensor]


def require_setting(
    config: Config, name: str, allowed: tuple[object, ...], *, default: object
) -> None:
    """Raise an InputError if a setting has a value that this library cannot represent."""
    value = config.get(name, default)
    if value not in allowed:
        choices = " or ".join(str(each) for each in allowed if each is not None)
        raise InputError(f"config.json: {name} is {value}, but only {choices} is supported")
