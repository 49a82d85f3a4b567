"""Write files and folders atomically: readers see the old content or the complete new content.

New content is written under a temporary name beside its target, `.NAME.tmp-RANDOM`, which is
created exclusively and never through a symbolic link. Its writer holds a lock on it. A killed
process loses its locks, so the next process that writes the same target removes the temporary
names that nobody has locked; other files are never removed.
"""

import contextlib
import ctypes
import errno
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from thresher.errors import InputError, os_errors_as_input_errors
from thresher.untrusted_files import read_json

try:
    import fcntl
except ImportError:  # Windows; leftovers of killed processes stay there
    fcntl = None  # type: ignore[assignment]

_TEMPORARY, _REPLACED = "tmp", "old"  # being written; a folder that is being replaced
_RANDOM = "[a-z0-9_]{8}"  # what `tempfile` adds to a name
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # of Linux

_TRIAL_BYTES = 1 << 20  # about the size of a small model


@contextlib.contextmanager
def open_atomic(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces `path` when the block ends without an exception.

    After an exception the temporary file is removed and `path` is unchanged.
    """
    _remove_leftovers(path, _TEMPORARY)
    handle, temporary = _new_locked_file(path)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
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
        _remove_leftovers(path, _TEMPORARY)
        with _new_locked_folder(path) as temporary:
            for name, content in files.items():
                write_file(temporary / name, content)
            temporary.chmod(0o777 & ~_umask())
            _replace_folder(temporary, path)
        _remove_leftovers(path, _REPLACED)  # the only copy of a model, until now


def check_can_write(path: Path) -> None:
    """Raise `InputError` if a file or folder could not be written to `path`, or the disk is full.

    The check writes a temporary file beside `path`, or below the nearest folder that exists, and
    removes it again.
    """
    with os_errors_as_input_errors(f"cannot write {path}"):
        target = path.resolve()
        parent = next(each for each in target.parents if each.exists())
        _remove_leftovers(parent / target.name, _TEMPORARY)
        with _new_locked_folder(parent / target.name) as folder:
            trial = folder.joinpath(*target.parent.relative_to(parent).parts, "trial")
            trial.parent.mkdir(parents=True, exist_ok=True)
            with trial.open("wb") as file:
                file.write(bytes(_TRIAL_BYTES))
                file.flush()
                os.fsync(file.fileno())
            shutil.rmtree(folder)


def is_replaceable(path: Path) -> bool:
    """Return True if `path` does not exist, is an empty folder or is a model."""
    if not path.exists() or _is_model(path):
        return True
    return path.is_dir() and not any(path.iterdir())


def _is_model(path: Path) -> bool:
    """Return True if the folder has a config.json with the digests that every model has."""
    try:
        config = read_json(path / "config.json")
    except InputError:
        return False
    return isinstance(config, dict) and "sha256" in config


def _replace_folder(new: Path, path: Path) -> None:
    """Move `new` to `path`; the old folder is deleted only after the new one is in place."""
    if not path.exists():
        new.replace(path)
    elif exchange(new, path):
        shutil.rmtree(new, ignore_errors=True)
    else:
        _replace_in_two_steps(new, path)


def exchange(first: Path, second: Path) -> bool:
    """Exchange two names in one step; return False if the system or the disk cannot do that.

    `os` has no function for this system call of Linux.
    """
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    names = (os.fsencode(first), os.fsencode(second))
    if rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.EPERM):
        return False
    raise OSError(number, os.strerror(number), str(second))


def _replace_in_two_steps(new: Path, path: Path) -> None:
    """Replace a folder without `exchange`; a crash in between leaves it under a temporary name."""
    folder = Path(tempfile.mkdtemp(dir=path.parent, prefix=_prefix(path, _REPLACED)))
    old = folder / path.name
    path.replace(old)
    try:
        new.replace(path)
    except OSError:
        old.replace(path)
        folder.rmdir()
        raise


def is_temporary(name: str) -> bool:
    """Return True if the last part of a path is a temporary name of this module."""
    return re.fullmatch(rf"\..+\.{_TEMPORARY}-{_RANDOM}", name.rpartition("/")[2]) is not None


def _prefix(path: Path, purpose: str) -> str:
    return f".{path.name}.{purpose}-"


def _new_locked_file(path: Path) -> tuple[int, Path]:
    """Create a temporary file for a target; return its descriptor and its name."""
    while True:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=_prefix(path, _TEMPORARY))
        _lock(handle)
        if Path(name).exists():  # another process may have removed it before it was locked
            return handle, Path(name)
        os.close(handle)


@contextlib.contextmanager
def _new_locked_folder(path: Path) -> Iterator[Path]:
    """Create a temporary folder for a target; remove it after an exception."""
    while True:
        folder = Path(tempfile.mkdtemp(dir=path.parent, prefix=_prefix(path, _TEMPORARY)))
        if fcntl is None:
            handle = None
            break
        try:
            handle = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:
            continue
        _lock(handle)
        if folder.exists():
            break
        os.close(handle)
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        if handle is not None:
            os.close(handle)


def _lock(handle: int) -> None:
    """Lock an open file until it is closed; some network file systems have no locks."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)


def _remove_leftovers(path: Path, purpose: str) -> None:
    """Remove what killed processes left beside a target: unlocked temporary names of this user."""
    if fcntl is None:
        return
    pattern = re.compile(re.escape(_prefix(path, purpose)) + _RANDOM)
    with contextlib.suppress(OSError):
        for each in list(path.parent.iterdir()):
            if pattern.fullmatch(each.name):
                _remove_if_unlocked(each)


def _remove_if_unlocked(path: Path) -> None:
    with contextlib.suppress(OSError):
        status = path.lstat()
        is_folder = stat.S_ISDIR(status.st_mode)
        if status.st_uid != os.geteuid() or not (is_folder or stat.S_ISREG(status.st_mode)):
            return
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises OSError if it is in use
            if is_folder:
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
        finally:
            os.close(handle)


def _umask() -> int:
    """Return the permissions that new files must not have; reading them requires setting them."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
