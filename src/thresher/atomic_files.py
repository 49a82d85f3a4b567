"""Folders and files that are written whole or not at all."""

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from thresher.errors import InputError


def write_file(path: Path, content: bytes) -> None:
    """Put `content` at `path` in one step: a reader sees the old file or the new one."""
    with _told_plainly(path):
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(0o666 & ~_umask())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Put a folder with these files at `path`; a model or an empty folder there is replaced."""
    path = path.resolve()  # a link to a model goes on leading to it
    if not replaceable(path):
        raise InputError(f"{path} exists and is not a model; choose another place")
    with _told_plainly(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
        try:
            for name, content in files.items():
                write_file(temporary / name, content)
            temporary.chmod(0o777 & ~_umask())
            _exchange(temporary, path)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


def replaceable(path: Path) -> bool:
    """Whether nothing would be lost but a model."""
    if not path.exists() or _is_model(path):
        return True
    return path.is_dir() and not any(path.iterdir())


def _is_model(path: Path) -> bool:
    """Whether a description lies there that vouches for files, as that of every model does."""
    try:
        config = json.loads((path / "config.json").read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and "sha256" in config


def _exchange(new: Path, path: Path) -> None:
    """Move `new` to `path`; what was there is deleted only once the new one is in place."""
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
    """What new files may not allow; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


@contextlib.contextmanager
def _told_plainly(path: Path) -> Iterator[None]:
    """A full disk or a forbidden folder is the user's business, in one line."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error
