"""The folder beside a model in the making, from which a stopped run goes on."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from thresher.atomic_files import is_replaceable
from thresher.errors import InputError, os_errors_as_input_errors

if TYPE_CHECKING:
    from thresher.gates.distributed import ProcessGroup
    from thresher.text.sentence_store import SentenceStore

_SENTENCES = "sentences"
_MADE_AGAIN = ("train.ids", "validation.ids", "test.ids")  # of which a resumed run needs nothing
_FILES = {
    *("vectors.npy", "vectors.done", "checkpoint.safetensors", "log.csv", _SENTENCES),
    *_MADE_AGAIN,
}


def check_place(folder: Path, *, force: bool) -> None:
    """Refuse, before any work, a place where the model could not be put at the end."""
    if not is_replaceable(folder):
        raise InputError(f"{folder} exists and is not a model; choose another place")
    if (folder / "config.json").exists() and not force:
        raise InputError(f"there is a model in {folder}; add --force to replace it")
    work = _work_of(folder)
    if work.exists() and not (work.is_dir() and all(_is_ours(file) for file in work.iterdir())):
        raise InputError(f"{work} is needed for work in progress, and holds something else")


@contextmanager
def kept_work(
    folder: Path, *, resume: bool, processes: "ProcessGroup | None" = None
) -> Iterator[Path]:
    """A folder for work in progress, kept when that is stopped or fails, removed once done.

    Of several processes the first makes and removes it.
    """
    work = _work_of(folder)
    if processes is not None and not processes.is_main:
        processes.wait()
        yield work
        return
    if not resume:
        shutil.rmtree(work, ignore_errors=True)
    with os_errors_as_input_errors(f"cannot write {work}"):
        work.mkdir(parents=True, exist_ok=True)
    if processes is not None:
        processes.wait()
    try:
        yield work
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"stopped; the same command with --resume goes on from {work}"
        ) from None
    except BaseException:
        for name in _MADE_AGAIN:
            (work / name).unlink(missing_ok=True)
        if not any(work.iterdir()):
            work.rmdir()
        raise
    shutil.rmtree(work)


@contextmanager
def stored_sentences(
    sentences: Iterable[Sequence[str]], work: Path, processes: "ProcessGroup"
) -> Iterator["SentenceStore"]:
    """Sentences in files of the folder, so that they need not fit in memory.

    Of several processes the first reads and writes them.
    """
    from thresher.text.sentence_store import SentenceStore  # noqa: PLC0415 (numpy; not for help)

    folder = work / _SENTENCES
    try:
        if processes.is_main:
            folder.mkdir(exist_ok=True)
            SentenceStore.write(folder, sentences)
        processes.wait()
        yield SentenceStore.open(folder)
    finally:
        if processes.is_main:
            shutil.rmtree(folder, ignore_errors=True)


def _work_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.partial")


def _is_ours(file: Path) -> bool:
    return file.name in _FILES or file.name.startswith((".checkpoint.safetensors.", ".log.csv."))
