"""Save and load training checkpoints: one safetensors file with tensors and JSON, no pickle."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor
from torch.optim import Optimizer

from thresher.array_files import with_prefix, without_prefix
from thresher.atomic_files import write_file
from thresher.errors import InputError
from thresher.work_folder import other_run_error

Tensors = dict[str, Tensor]

_MOMENTS = "moments."  # before the names of the optimizer's tensors


def write_checkpoint(
    path: Path,
    tensors: Tensors,
    optimizer: Optimizer,
    numbers: dict[str, Any],
    *,
    fingerprint: str,
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Write a checkpoint with the state of the optimizer, atomically.

    numbers: step counts, losses and other values that JSON can hold
    fingerprint: identifies the text and the settings of the run
    settings: for the message of `read_checkpoint` if they have changed
    """
    all_tensors = tensors | with_prefix(_MOMENTS, _optimizer_tensors(optimizer))
    content = save(
        {name: value.detach().cpu().contiguous() for name, value in all_tensors.items()},
        metadata={
            "mark": fingerprint,
            "numbers": json.dumps(numbers),
            **({} if settings is None else {"settings": json.dumps(settings)}),
        },
    )
    write_file(path, content)


def read_checkpoint(
    path: Path,
    optimizer: Optimizer,
    *,
    fingerprint: str,
    settings: Mapping[str, Any] | None = None,
) -> tuple[Tensors, dict[str, Any]] | None:
    """Return the tensors and numbers of a checkpoint, or None if none has been written yet.

    The state of the optimizer is restored. A checkpoint with another fingerprint raises InputError.
    """
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise InputError(f"cannot resume from {path}: {error}") from error
    if metadata.get("mark") != fingerprint:
        if settings is None:
            raise other_run_error(path)
        raise other_run_error(path, _difference(metadata.get("settings"), settings))
    _load_optimizer_tensors(optimizer, without_prefix(_MOMENTS, tensors))
    return tensors, json.loads(metadata["numbers"])


def _difference(saved: str | None, settings: Mapping[str, Any]) -> str:
    """Return what differs from a run whose settings were saved as JSON."""
    before, now = json.loads(saved or "null"), json.loads(json.dumps(settings))
    if not isinstance(before, dict):  # a checkpoint of an earlier version
        return "other text or settings"
    changed = [name for name in {**now, **before} if before.get(name) != now.get(name)]
    names = ", ".join(f"`{name}`" for name in changed)
    return f"other values of {names}" if changed else "other text"


def tensors_digest(tensors: Mapping[str, Tensor], *texts: str) -> str:
    """Return a digest that only the same names, dtypes, shapes and values give.

    texts: anything else that belongs to the tensors, such as a tokenizer
    """
    digest = hashlib.blake2b(digest_size=32)
    for name, value in sorted(tensors.items()):
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}\n".encode())
        digest.update(value.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().data)
    for text in texts:
        digest.update(f"{len(text)}\n{text}".encode(errors="surrogatepass"))
    return digest.hexdigest()


def _optimizer_tensors(optimizer: Optimizer) -> Tensors:
    """Return the state of an optimizer, such as Adam's moments, by `parameter_index.name`."""
    return {
        f"{index}.{name}": value
        for index, state in optimizer.state_dict()["state"].items()
        for name, value in state.items()
    }


def _load_optimizer_tensors(optimizer: Optimizer, tensors: Tensors) -> None:
    """Restore the state that `_optimizer_tensors` returned."""
    states: dict[int, Tensors] = {}
    for key, value in tensors.items():
        index, _, name = key.partition(".")
        states.setdefault(int(index), {})[name] = value
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": states, "param_groups": groups})
