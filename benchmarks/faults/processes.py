"""Run a command in a forked child, and kill it or let its file operations fail at a chosen moment.

The parent has imported everything, so a child starts at once and a kill hits the work and not the
imports. Moments are counted in CPU time of the child, so that they do not depend on the load of the
machine, or in file operations, which Python announces to audit hooks.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from thresher.cli import main

_OPERATIONS = (
    *("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate"),
    *("tempfile.mkstemp", "tempfile.mkdtemp", "shutil.rmtree", "fcntl.flock", "ctypes.dlsym"),
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_POLL = 0.002  # seconds
_CLOCK = os.sysconf("SC_CLK_TCK")

OnOperation = Callable[[int], None]  # called with the number of each file operation, from 1


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    status: its exit status, or minus the number of the signal that killed it
    seconds: of CPU time, or of wall time   operations: of the file system
    errors: what it wrote to standard error
    """

    status: int
    seconds: float
    operations: int
    errors: str

    @property
    def killed(self) -> bool:
        """Whether it was ended by SIGKILL."""
        return self.status == -signal.SIGKILL


def run(
    arguments: tuple[str, ...],
    folder: Path,
    *,
    kill_after: float | None = None,
    wall_time: bool = False,
    on_operation: OnOperation | None = None,
    log: Path,
) -> Ended:
    """Run `thresher` in a folder.

    kill_after: seconds of CPU time after which the process is killed
    wall_time: measure in wall time instead, because other processes do the work
    on_operation: called in the child before each file operation
    log: a file for the output and for the number of operations
    """
    log.unlink(missing_ok=True)
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        _run_in_child(arguments, folder, on_operation, log)
    since = started if wall_time else None
    seconds = _wait_until(child, kill_after, since)
    if kill_after is not None and seconds >= kill_after:
        os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    errors, _, count = text.rpartition("\noperations ")
    return Ended(
        os.waitstatus_to_exitcode(status),
        time.monotonic() - started if wall_time else usage.ru_utime + usage.ru_stime,
        int(count) if count.strip().isdigit() else 0,
        errors if count.strip().isdigit() else text,
    )


def _wait_until(child: int, seconds: float | None, since: float | None) -> float:
    """Wait until a child has ended or has used that much time; return the time used.

    since: count wall time from here, and not CPU time
    """
    used = 0.0
    while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        used = max(used, cpu_seconds(child) if since is None else time.monotonic() - since)
        if seconds is not None and used >= seconds:
            return used
        time.sleep(_POLL if seconds is not None else 5 * _POLL)
    return -1.0


def cpu_seconds(process: int) -> float:
    """Return the CPU time of a process, exact to a nanosecond if the system tells."""
    try:
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[0]) / 1e9
    except (OSError, IndexError, ValueError):
        try:
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / _CLOCK
        except OSError:
            return 0.0


def _run_in_child(
    arguments: tuple[str, ...], folder: Path, on_operation: OnOperation | None, log: Path
) -> None:
    """Run the command and end the process; never returns."""
    status = 1
    try:
        os.setpgid(0, 0)
        os.chdir(folder)
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        null = os.open(os.devnull, os.O_RDWR)
        for stream, target in ((0, null), (1, null), (2, file)):
            os.dup2(target, stream)
        sys.stdin, sys.stdout, sys.stderr = (
            os.fdopen(0, "r"),
            os.fdopen(1, "w"),
            os.fdopen(2, "w", buffering=1),
        )
        count = _count_operations(folder, on_operation)
        status = main([*arguments, "--quiet"])
        sys.stderr.flush()
        on_operation = None
        os.write(file, f"\noperations {count()}\n".encode())
    finally:
        os._exit(status)


def _count_operations(folder: Path, on_operation: OnOperation | None) -> Callable[[], int]:
    """Count the file operations of this process that change something below the folder."""
    inside = str(folder)
    number = 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal number
        if event == "open":
            path, _, flags = arguments
            if not (isinstance(flags, int) and flags & _WRITING):
                return
        elif event not in _OPERATIONS:
            return
        else:
            path = arguments[0]
        name = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else inside
        if not Path(name).is_absolute() or name.startswith(inside):
            number += 1
            if on_operation is not None:
                on_operation(number)

    sys.addaudithook(hook)
    return lambda: number


def kill_at(operation: int) -> OnOperation:
    """Return a function that kills the process just before that file operation."""

    def on_operation(number: int) -> None:
        if number == operation:
            os.kill(os.getpid(), signal.SIGKILL)

    return on_operation


def fail_from(operation: int, error: int) -> OnOperation:
    """Return a function that lets all file operations from that one on fail with that errno."""

    def on_operation(number: int) -> None:
        if number >= operation:
            raise OSError(error, os.strerror(error))

    return on_operation
