"""The folder beside a model in the making, from which a stopped run goes on."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from thresher.errors import InputError
from thresher.folders import replaceable

_FILES = {"vectors.npy", "vectors.done", "checkpoint.safetensors", "log.csv"}


def check_place(folder: Path, *, force: bool) -> None:
    """Refuse, before any work, a place where the model could not be put at the end."""
    if not replaceable(folder):
        raise InputError(f"{folder} exists and is not a model; choose another place")
    if (folder / "config.json").exists() and not force:
        raise InputError(f"there is a model in {folder}; add --force to replace it")
    work = _work_of(folder)
    if work.exists() and not (work.is_dir() and all(_is_ours(file) for file in work.iterdir())):
        raise InputError(f"{work} is needed for work in progress, and holds something else")


@contextmanager
def kept_work(folder: Path, *, resume: bool) -> Iterator[Path]:
    """A folder for work in progress, kept when that is stopped or fails, removed once done."""
    work = _work_of(folder)
    if not resume:
        shutil.rmtree(work, ignore_errors=True)
    try:
        work.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {work}: {error.strerror}") from error
    try:
        yield work
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"stopped; the same command with --resume goes on from {work}"
        ) from None
    except BaseException:
        if not any(work.iterdir()):
            work.rmdir()
        raise
    shutil.rmtree(work)


def _work_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.partial")


def _is_ours(file: Path) -> bool:
    return file.name in _FILES or file.name.startswith((".checkpoint.safetensors.", ".log.csv."))
