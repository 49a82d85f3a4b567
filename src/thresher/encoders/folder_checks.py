"""Check the folder of a pretrained encoder before any library reads it.

Such folders come from anyone. They must not run code, load other models or kernels, block the
reader, or make it allocate more memory than the weights justify.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from thresher.errors import InputError
from thresher.untrusted_files import (
    MAX_CONFIG_BYTES,
    MAX_TEXT_BYTES,
    check_weights_file,
    open_regular,
    read_json,
)

_CONFIG, _TOKENIZER_CONFIG = "config.json", "tokenizer_config.json"
_INDEX = "model.safetensors.index.json"
_MAX_LABELS = 1 << 16  # `transformers` makes names for all of them


def check_encoder_folder(folder: Path) -> dict[str, Any]:
    """Return the content of config.json after checking all files that a library may read."""
    config = read_json(folder / _CONFIG)
    if not isinstance(config, dict):
        raise InputError(f"{folder / _CONFIG} does not contain a JSON object")
    configs = [config]
    for name in (_TOKENIZER_CONFIG, _INDEX):
        if (folder / name).exists():
            configs.append(read_json(folder / name))
    for each in configs:
        _refuse_foreign_code(folder, each)
    if (folder / "adapter_config.json").exists():
        raise InputError(f"{folder} is an adapter of another model; give a complete model")
    for path in folder.iterdir():
        _check_file(path)
    _check_index(folder, configs[-1])
    return config


def check_declared_size(config: Mapping[str, Any], tensors: int) -> None:
    """Raise InputError if the config declares more layers than there are tensors.

    Building a model takes time for each layer, even without memory for its weights.

    tensors: the number of tensors in the weight files
    """
    for name, value in _items(config):
        if isinstance(value, int) and "layers" in name and value > tensors:
            raise InputError(f"{_CONFIG}: {name} is {value}, but there are {tensors} tensors")
        if name == "num_labels" and not (isinstance(value, int) and 0 <= value <= _MAX_LABELS):
            raise InputError(f"{_CONFIG}: {name} must be between 0 and {_MAX_LABELS}, got {value}")


def weight_shapes(folder: Path) -> dict[str, list[int]]:
    """Return the shapes of all tensors that the safetensors files of a folder declare."""
    shapes: dict[str, list[int]] = {}
    for path in sorted(folder.glob("*.safetensors")):
        shapes |= check_weights_file(path)
    return shapes


def _refuse_foreign_code(folder: Path, config: Any) -> None:
    for name, value in _items(config):
        if name == "auto_map":
            raise InputError(
                f"the encoder {folder} contains program code of its own (auto_map), "
                "which is never run; choose another encoder"
            )
        if name.endswith("attn_implementation") and "/" in str(value):
            raise InputError(
                f"the encoder {folder} needs program code from elsewhere ({name}: {value}), "
                "which is never run; choose another encoder"
            )


def _items(config: Any) -> Iterator[tuple[str, Any]]:
    """Yield all names and values of a JSON value, at any depth; the depth is limited."""
    if isinstance(config, dict):
        for name, value in config.items():
            yield name, value
            yield from _items(value)
    elif isinstance(config, list):
        for each in config:
            yield from _items(each)


def _check_file(path: Path) -> None:
    if path.is_dir():
        return
    if path.suffix == ".safetensors":
        check_weights_file(path)
    elif path.suffix in {".json", ".txt", ".model", ".jinja"}:
        small = path.name in {_CONFIG, _TOKENIZER_CONFIG}
        open_regular(path, max_bytes=MAX_CONFIG_BYTES if small else MAX_TEXT_BYTES).close()


def _check_index(folder: Path, index: Any) -> None:
    """Raise InputError if the list of weight files names one outside the folder."""
    if not (folder / _INDEX).exists():
        return
    names = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(names, dict):
        raise InputError(f"{folder / _INDEX} has no weight_map")
    for name in set(map(str, names.values())):
        if Path(name).name != name or not name.endswith(".safetensors"):
            raise InputError(f"{folder / _INDEX} names {name!r}, which is not a file of the folder")
