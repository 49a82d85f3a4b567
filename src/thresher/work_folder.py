"""The work folder of a training run: the files from which a stopped run can continue."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from thresher.atomic_files import check_can_write, is_replaceable
from thresher.errors import InputError, os_errors_as_input_errors
from thresher.output_lock import lock_output

if TYPE_CHECKING:
    from thresher.training_processes import Processes

SENTENCES = "sentences"
TEXT, SOURCES = "text.utf8", "sources.json"
_PARTS = ("train", "validation", "test")
# The text and its tokens, which a run continues from if it was interrupted, but not if it failed.
_TOKEN_IDS = (
    *(f"{part}.ids" for part in _PARTS),
    *(f"{part}.ids.state" for part in _PARTS),
    *("tokens.json", TEXT, SOURCES),
)
_FILES = {
    "vectors.npy",
    "vectors.done",
    "checkpoint.safetensors",
    "log.csv",
    SENTENCES,
    *_TOKEN_IDS,
}
_TEMPORARY = (
    *(".checkpoint.safetensors.", ".log.csv.", ".vectors.done."),
    *(f".{name}." for name in _TOKEN_IDS),
)


def check_output_folder(folder: Path, *, force: bool = False) -> None:
    """Raise `InputError` if a model could not be saved in the folder after training.

    force: allow an existing model to be replaced
    """
    if not is_replaceable(folder):
        raise InputError(f"{folder} exists and is not a model; choose another folder")
    if (folder / "config.json").exists() and not force:
        raise InputError(f"{folder} already contains a model; add `force` to replace it")
    work_dir = work_dir_of(folder)
    if work_dir.exists() and not _is_work_folder(work_dir):
        raise InputError(
            f"{work_dir} is needed for temporary files but contains other files; rename it"
        )
    check_can_write(folder)


@contextmanager
def work_folder(
    model: Path, *, resume: bool = False, processes: "Processes | None" = None
) -> Iterator[Path]:
    """Lock a model and create its work folder, which is removed once the block has succeeded.

    A second run for the same model raises InputError. If the block fails or is interrupted, the
    folder stays, so that the run can be resumed.

    model: the folder of the model that is being trained
    resume: keep the files of an earlier run
    processes: only the main one of several processes creates and removes the folder
    """
    work_dir = work_dir_of(model)
    if processes is not None and not processes.is_main:
        processes.wait()
        yield work_dir
        return
    with lock_output(model):
        if not resume:
            shutil.rmtree(work_dir, ignore_errors=True)
        _refuse_links(work_dir)
        with os_errors_as_input_errors(f"cannot write {work_dir}"):
            work_dir.mkdir(parents=True, exist_ok=True)
        if processes is not None:
            processes.wait()
        try:
            yield work_dir
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"stopped; run the same command with `resume` to continue from {work_dir}"
            ) from None
        except BaseException:
            _remove_unneeded(work_dir)
            raise
        shutil.rmtree(work_dir)


def _remove_unneeded(work_dir: Path) -> None:
    """Remove the files that a resumed run computes again, and the folder if nothing is left."""
    for name in _TOKEN_IDS:
        (work_dir / name).unlink(missing_ok=True)
    if not any(work_dir.iterdir()):
        work_dir.rmdir()


def other_run_error(
    path: Path, difference: str = "other text or settings, or another encoder"
) -> InputError:
    """Return the error for files of a run that differs from the one that would resume it."""
    return InputError(
        f"cannot resume from {path}: it was started with {difference}; leave out `resume` to "
        "start again"
    )


def work_dir_of(model: Path) -> Path:
    """Return the path of the work folder of a model folder."""
    return model.with_name(f"{model.name}.partial")


def _refuse_links(work_dir: Path) -> None:
    """Raise InputError for symbolic links, through which files elsewhere would be overwritten."""
    inside = work_dir.rglob("*") if work_dir.is_dir() and not work_dir.is_symlink() else []
    for path in (work_dir, *inside):
        if path.is_symlink():
            raise InputError(f"{path} is a symbolic link; remove it")


def _is_work_folder(folder: Path) -> bool:
    return folder.is_dir() and all(
        file.name in _FILES or file.name.startswith(_TEMPORARY) for file in folder.iterdir()
    )
