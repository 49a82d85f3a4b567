"""A model as a folder: config.json, the files it vouches for by their digests, a model card."""

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from thresher.atomic_files import write_folder
from thresher.errors import InputError, did_you_mean

CONFIG, CARD = "config.json", "README.md"


@dataclass(frozen=True)
class ModelKind:
    """What one kind of model keeps in its folder.

    format: of the folder; another one is refused   files: beside the description and the card
    optional: files that only some such models have   made_by: the command that makes such a model
    """

    name: str
    format: int
    files: tuple[str, ...]
    made_by: str
    optional: tuple[str, ...] = ()

    def write(
        self, folder: Path, config: Mapping[str, Any], files: Mapping[str, bytes], *, card: str
    ) -> None:
        """Write the folder, whole or not at all."""
        described = {
            "kind": self.name,
            "format": self.format,
            **config,
            "sha256": {name: _sha256(content) for name, content in files.items()},
        }
        text = json.dumps(described, indent=2, ensure_ascii=False) + "\n"
        parts = {CONFIG: text.encode(errors="replace"), CARD: card.encode(errors="replace")}
        write_folder(folder, {**files, **parts})

    def read(self, folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
        """The description and the files; whatever is wrong with them is said in one line."""
        config = self._config(folder)
        with described_by(folder):
            there = [name for name in self.optional if name in config["sha256"]]
        try:
            files = {name: (folder / name).read_bytes() for name in (*self.files, *there)}
        except OSError as error:
            raise InputError(f"the model {folder} is incomplete: {error}") from error
        with described_by(folder):
            for name, content in files.items():
                if _sha256(content) != config["sha256"][name]:
                    raise InputError(f"{folder / name} was changed after the model was saved")
        return config, files

    def _config(self, folder: Path) -> dict[str, Any]:
        path = folder / CONFIG
        if not folder.is_dir():
            models = folder.parent.glob(f"*/{CONFIG}")
            hint = did_you_mean(folder.name, (file.parent.name for file in models))
            raise InputError(f"there is no model folder {folder}{hint}")
        try:
            config = json.loads(path.read_bytes())
        except OSError as error:
            raise InputError(f"{folder} is not a model: it has no {CONFIG}") from error
        except ValueError as error:
            raise InputError(f"{path} is not valid JSON: {error}") from error
        if not isinstance(config, dict) or config.get("kind", self.name) != self.name:
            article = "an" if self.name[0] in "aeiou" else "a"
            raise InputError(f"{folder} is not {article} {self.name}; {self.made_by} makes one")
        if config.get("format") != self.format:
            version = config.get("format")
            raise InputError(
                f"{path} has format {version!r}; this version reads format {self.format}"
            )
        return config


def kind_in(folder: Path) -> str | None:
    """What a folder says it holds, if anything: the name of a `ModelKind`."""
    try:
        config = json.loads((folder / CONFIG).read_bytes())
    except (OSError, ValueError):
        return None
    kind = config.get("kind") if isinstance(config, dict) else None
    return kind if isinstance(kind, str) else None


# What a part of another kind, size or name gives where it is put in.
_MISFITS = (AttributeError, KeyError, TypeError, ValueError, RuntimeError, SafetensorError)


@contextlib.contextmanager
def described_by(folder: Path) -> Iterator[None]:
    """While a model is put together from its parts: one line for what does not fit."""
    try:
        yield
    except InputError:
        raise
    except _MISFITS as error:
        reason = " ".join(str(error).splitlines()) or type(error).__name__
        raise InputError(f"{folder / CONFIG} does not describe a model: {reason}") from error


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
