"""Training states on disk, in one file of tensors and plain text: no pickle."""

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor
from torch.optim import Optimizer

from thresher.atomic_files import write_file
from thresher.errors import InputError

Tensors = dict[str, Tensor]


def write_checkpoint(path: Path, tensors: Tensors, numbers: dict[str, Any], *, mark: str) -> None:
    """Write a state, whole or not at all; `mark` tells which run it belongs to."""
    content = save(
        {name: value.detach().cpu().contiguous() for name, value in tensors.items()},
        metadata={"mark": mark, "numbers": json.dumps(numbers)},
    )
    write_file(path, content)


def read_checkpoint(path: Path, *, mark: str) -> tuple[Tensors, dict[str, Any]] | None:
    """The tensors and numbers of a stopped run; None for one stopped before it wrote any."""
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise InputError(f"cannot resume from {path}: {error}") from error
    if metadata.get("mark") != mark:
        raise InputError(f"cannot resume from {path}: it was begun with other text or settings")
    return tensors, json.loads(metadata["numbers"])


def moments(optimizer: Optimizer) -> Tensors:
    """What an optimiser remembers of each parameter, by `number.name`."""
    return {
        f"{number}.{name}": value
        for number, state in optimizer.state_dict()["state"].items()
        for name, value in state.items()
    }


def restore_moments(optimizer: Optimizer, tensors: Tensors) -> None:
    """Give an optimiser back what `moments` gave."""
    state: dict[int, Tensors] = {}
    for name, value in tensors.items():
        number, _, moment = name.partition(".")
        state.setdefault(int(number), {})[moment] = value
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def tensors_under(prefix: str, tensors: Tensors) -> Tensors:
    """Those whose names begin so, by the rest of their names."""
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }


def under(prefix: str, tensors: Tensors) -> Tensors:
    """The same tensors with a prefix to their names."""
    return {prefix + name: value for name, value in tensors.items()}
