"""Keep two runs from writing the same output: the second one reports the first and stops.

A run locks the file `.NAME.lock` beside its output, and removes it at the end. The kernel releases
the lock of a process that dies, however it dies: its file may stay, but the next run can lock it.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from thresher.errors import InputError, os_errors_as_input_errors

try:
    import fcntl
except ImportError:  # Windows; two runs are not noticed there
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def lock_output(path: Path) -> Iterator[None]:
    """Hold the lock of an output during the block; raise InputError if another run holds it.

    path: a file or a folder that will be written; its parent folder is created
    """
    if fcntl is None:
        yield
        return
    target = path.resolve()  # several links may lead to one output
    lock = target.with_name(f".{target.name}.lock")
    with os_errors_as_input_errors(f"cannot write {path}"):
        lock.parent.mkdir(parents=True, exist_ok=True)
        handle = _open_locked(lock)
    if handle is None:
        raise InputError(
            f"another run is writing {path}; wait until it has finished, or choose another output"
        )
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            lock.unlink()
        os.close(handle)


def _open_locked(lock: Path) -> int | None:
    """Open and lock a file; return None if another process has locked it."""
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return None
        except OSError:  # a file system without locks
            return handle
        if _is_same_file(handle, lock):
            return handle
        os.close(handle)  # the other run removed it between the two calls


def _is_same_file(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except FileNotFoundError:
        return False
