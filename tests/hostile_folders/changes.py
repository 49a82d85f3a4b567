"""Changes of model folders, after which the folder is signed again."""

import contextlib
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_file, save

HUGE = 20_000_000
DEEP = 5000  # levels of nesting
NAN, INF = float("nan"), float("inf")

Change = Callable[[Path], object]


def config(**changes: object) -> Change:
    """Change values of config.json; a name a__b changes b inside a."""

    def change(folder: Path) -> None:
        content = json.loads((folder / "config.json").read_text())
        for name, value in changes.items():
            *outer, last = name.split("__")
            inner = content
            for key in outer:
                inner = inner[key]
            inner[last] = value
        (folder / "config.json").write_text(json.dumps(content))

    return change


def content(name: str, data: bytes) -> Change:
    return lambda folder: (folder / name).write_bytes(data)


def text(name: str, edit: Callable[[dict], object]) -> Change:
    """Edit a JSON file in place."""

    def change(folder: Path) -> None:
        value = json.loads((folder / name).read_text())
        edit(value)
        (folder / name).write_text(json.dumps(value))

    return change


def tensors(name: str, edit: Callable[[dict[str, torch.Tensor]], object]) -> Change:
    """Edit the tensors of a safetensors file in place."""

    def change(folder: Path) -> None:
        values = {key: each.clone() for key, each in load_file(folder / name).items()}
        edit(values)
        (folder / name).write_bytes(save(values, metadata={"format": "pt"}))

    return change


def fill(name: str, tensor: str, value: float) -> Change:
    return tensors(name, lambda values: values[tensor].view(-1)[-1:].fill_(value))


def put(name: str, **values: torch.Tensor) -> Change:
    return tensors(name, lambda all_values: all_values.update(values))


def fifo(name: str) -> Change:
    def change(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

    return change


def link(name: str, target: str) -> Change:
    def change(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)

    return change


def sparse(name: str, size: int = 1 << 42) -> Change:
    return lambda folder: os.truncate(folder / name, size)


def without(name: str, tensor: str) -> Change:
    return tensors(name, lambda values: values.pop(tensor))


def both(*changes: Change) -> Change:
    return lambda folder: [change(folder) for change in changes]


def sign(folder: Path) -> None:
    """Write the digests of the changed files into config.json, if it can have any."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        path = folder / "config.json"
        if not path.is_file() or path.stat().st_size > 1 << 20:
            return
        content = json.loads(path.read_bytes())
        if not isinstance(content, dict) or not isinstance(content.get("sha256"), dict):
            return
        for name in content["sha256"]:
            file = folder / name
            if file.is_file() and file.stat().st_size < 1 << 30:
                content["sha256"][name] = hashlib.sha256(file.read_bytes()).hexdigest()
        path.write_text(json.dumps(content))
