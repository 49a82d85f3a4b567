"""Read and write model folders.

A model folder has a config.json with the SHA-256 digests of the model's files, these files, and a
model card (README.md).
"""

import contextlib
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from thresher.atomic_files import write_folder
from thresher.errors import InputError, did_you_mean
from thresher.untrusted_files import memory_bytes, read_json, read_regular

CONFIG, CARD = "config.json", "README.md"


@dataclass(frozen=True)
class FolderLayout:
    """The files in the folder of one type of model.

    model_type: for example "language model"; stored in config.json as "kind"
    version: of this layout, stored as "format"; folders of another version are refused
    files: names of the files besides config.json and the model card
    made_by: the command that makes such a model, for error messages
    optional: names of files that only some models of this type have
    max_weights: the maximum size of a safetensors file in bytes; it must also fit into the memory
    """

    model_type: str
    version: int
    files: tuple[str, ...]
    made_by: str
    optional: tuple[str, ...] = ()
    max_weights: int = sys.maxsize

    def write(
        self, folder: Path, config: Mapping[str, Any], files: Mapping[str, bytes], *, card: str
    ) -> None:
        """Write a model folder atomically; `card` is the text of the model card."""
        full_config = {
            "kind": self.model_type,
            "format": self.version,
            **config,
            "sha256": {name: _sha256(content) for name, content in files.items()},
        }
        text = json.dumps(full_config, indent=2, ensure_ascii=False) + "\n"
        texts = {CONFIG: text.encode(errors="replace"), CARD: card.encode(errors="replace")}
        write_folder(folder, {**files, **texts})

    def read(self, folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
        """Return the config and the content of the files, after checking their digests."""
        config = self._read_config(folder)
        with config_errors_as_input_errors(folder):
            present = [name for name in self.optional if name in config["sha256"]]
        files = {}
        for name in (*self.files, *present):
            files[name] = self._read_file(folder, name)
        with config_errors_as_input_errors(folder):
            for name, content in files.items():
                if _sha256(content) != config["sha256"][name]:
                    raise InputError(f"{folder / name} was changed after the model was saved")
        return config, files

    def _read_file(self, folder: Path, name: str) -> bytes:
        path = folder / name
        if not path.exists():
            raise InputError(f"the model {folder} is incomplete: cannot read {name}")
        if path.suffix == ".safetensors":
            return read_regular(path, max_bytes=min(self.max_weights, memory_bytes()))
        return read_regular(path)

    def _read_config(self, folder: Path) -> dict[str, Any]:
        path = folder / CONFIG
        if not folder.is_dir():
            models = folder.parent.glob(f"*/{CONFIG}")
            hint = did_you_mean(folder.name, (file.parent.name for file in models))
            raise InputError(f"there is no model folder {folder}{hint}")
        if not path.exists():
            raise InputError(f"{folder} is not a model: it has no {CONFIG}")
        config = read_json(path)
        expected = self.model_type
        if not isinstance(config, dict) or config.get("kind", expected) != expected:
            article = "an" if expected[0] in "aeiou" else "a"
            raise InputError(f"{folder} is not {article} {expected}; {self.made_by} makes one")
        version = config.get("format")
        if version != self.version:
            raise InputError(
                f"{path} has format {version!r}; this version reads format {self.version}"
            )
        return config


def read_model_type(folder: Path) -> str | None:
    """Return the type of the model in a folder, from its config.json; None if there is no model."""
    try:
        config = read_json(folder / CONFIG)
    except InputError:
        return None
    model_type = config.get("kind") if isinstance(config, dict) else None
    return model_type if isinstance(model_type, str) else None


# Raised when a tensor or value in the config has an unexpected name, type or size.
_CONFIG_ERRORS = (
    *(ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, SafetensorError),
    *(TypeError, ValueError),
)


@contextlib.contextmanager
def config_errors_as_input_errors(folder: Path) -> Iterator[None]:
    """Turn errors while a model is built from its files into an InputError of one line."""
    try:
        yield
    except InputError as error:
        if str(folder) in str(error):
            raise
        # The names in backquotes are keys of the config, not options of a command.
        message = str(error).replace("`", "")
        raise InputError(f"cannot load the model {folder}: {message}") from error
    except _CONFIG_ERRORS as error:
        reason = " ".join(str(error).splitlines()) or type(error).__name__
        raise InputError(f"{folder / CONFIG} does not describe a model: {reason}") from error


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
