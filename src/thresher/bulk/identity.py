"""Identify the model and the input of a bulk run by their content, so that a change is noticed."""

import hashlib
from pathlib import Path
from typing import Any

import thresher
from thresher.bulk.filesystems import file_size, file_version
from thresher.bulk.finder_choice import FinderChoice
from thresher.entities.built_in import find_model_folder
from thresher.entities.finding.adaptation import Adaptation
from thresher.entities.model_config import date_expressions_config
from thresher.errors import InputError
from thresher.model_folder import CONFIG
from thresher.untrusted_files import MAX_CONFIG_BYTES, parse_json, read_regular

_ENCODER_FILES = ("*.json", "*.safetensors", "*.txt", "*.model")


def file_identity(name: str) -> dict[str, Any]:
    """Return the size of a file and a string that changes with its content."""
    return {"bytes": file_size(name), "version": file_version(name)}


def model_identity(choice: FinderChoice) -> dict[str, Any]:
    """Return what identifies a model, its encoder and how it is used.

    The config of a model has the digests of the model's files. The built-in model is identified by
    the version of this package.
    """
    use: dict[str, Any] = {"selector": choice.selector, "exact": choice.exact}
    if choice.rules is not None:
        use["rules"] = {"always": choice.rules.always, "never": choice.rules.never}
    if choice.kinds is not None:
        use["kinds"] = choice.kinds if isinstance(choice.kinds, str) else dict(choice.kinds.names)
    if choice.adaptations:
        values = [_sorted(each) for _, each in sorted(choice.adaptations.items())]
        use["adaptation"] = hashlib.sha256(repr(values).encode()).hexdigest()
    if len(choice.parts) > 1:
        return {"models": [model_identity(each) for each in choice.parts]}
    if choice.folder is None or choice.is_auto:
        return {"model": f"{choice.folder or 'built-in'}, {thresher.__version__}"} | use
    if choice.is_onnx:
        return {"model": file_version(str(choice.folder))} | use
    folder = find_model_folder(choice.folder)
    path = folder / CONFIG
    if not path.exists():
        raise InputError(f"{choice.folder} is not a model: it has no {CONFIG}")
    content = read_regular(path, max_bytes=MAX_CONFIG_BYTES)
    identity = {"model": hashlib.sha256(content).hexdigest()}
    config = parse_json(content, str(path))
    encoder = _encoder_folder(config, folder) if isinstance(config, dict) else None
    return identity | ({} if encoder is None else {"encoder": _folder_digest(encoder)}) | use


def _sorted(adaptation: Adaptation) -> tuple[object, ...]:
    """Return the values of an adaptation in an order that does not change between processes."""
    values = adaptation
    dates = values.date_expressions and date_expressions_config(values.date_expressions)
    return (values.signal_weights, values.threshold, sorted(values.ordinary), values.words, dates)


def _encoder_folder(config: dict[str, Any], model: Path) -> Path | None:
    """Return the folder of a model's encoder; None for one of the Hub or inside the model."""
    name = config.get("encoder")
    if not isinstance(name, str) or not name:
        return None
    return next(
        (each for each in (Path(name), model.parent / Path(name).name) if each.is_dir()), None
    )


def _folder_digest(folder: Path) -> str:
    """Return a digest of the names and contents of an encoder's files."""
    digest = hashlib.blake2b(digest_size=32)
    for path in sorted({each for pattern in _ENCODER_FILES for each in folder.glob(pattern)}):
        digest.update(f"{path.name} {file_version(str(path))}\n".encode(errors="surrogateescape"))
    return digest.hexdigest()
