"""Write files and folders atomically: readers see the old content or the complete new content."""

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from thresher.errors import InputError, os_errors_as_input_errors


@contextlib.contextmanager
def open_atomic(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces `path` when the block ends without an exception.

    After an exception the temporary file is removed and `path` is unchanged.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_file(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    with os_errors_as_input_errors(f"cannot write {path}"), open_atomic(path) as file:
        file.write(content)


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Write a folder of files atomically; only a model or an empty folder is replaced.

    files: the content of each file by its name
    """
    path = path.resolve()  # so that a link to a model still points to it
    if not is_replaceable(path):
        raise InputError(f"{path} exists and is not a model; choose another folder")
    with os_errors_as_input_errors(f"cannot write {path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
        try:
            for name, content in files.items():
                write_file(temporary / name, content)
            temporary.chmod(0o777 & ~_umask())
            _replace_folder(temporary, path)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


def is_replaceable(path: Path) -> bool:
    """Return True if `path` does not exist, is an empty folder or is a model."""
    if not path.exists() or _is_model(path):
        return True
    return path.is_dir() and not any(path.iterdir())


def _is_model(path: Path) -> bool:
    """Return True if the folder has a config.json with the digests that every model has."""
    try:
        config = json.loads((path / "config.json").read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and "sha256" in config


def _replace_folder(new: Path, path: Path) -> None:
    """Move `new` to `path`; the old folder is deleted only after the new one is in place."""
    if not path.exists():
        new.replace(path)
        return
    old = path.with_name(f".{path.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    path.replace(old)
    try:
        new.replace(path)
    except OSError:
        old.replace(path)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _umask() -> int:
    """Return the permissions that new files must not have; reading them requires setting them."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
