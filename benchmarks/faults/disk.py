"""Let the file system become read-only or full at each stage of a command.

Errors are raised from the n-th file operation on, for operations spread over the whole run. Where
the system allows to mount one, a small tmpfs also runs full while files are written. Afterwards the
fault is repaired and the command is run again.
"""

import ctypes
import errno
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.faults.cases import CASES, Case
from benchmarks.faults.processes import Ended, fail_from
from benchmarks.faults.trials import LossError, Trial

ERRORS = {"read-only": errno.EROFS, "full": errno.ENOSPC}
STAGES = 8  # of a run at which a fault begins
_NEW_MOUNTS = 0x00020000  # CLONE_NEWNS of unshare(2)
_FRACTIONS = (0.0, 0.1, 0.25, 0.5, 0.75)  # of the space that is needed


def starve_commands(
    *, inputs: Path, folder: Path, only: Sequence[str] = (), stages: int = STAGES
) -> list[dict[str, Any]]:
    """Return a row of results for each command; `find` writes alike with and without workers."""
    cases = [case for case in CASES if case.name in only or not (only or case.is_slow)]
    rows = []
    for case in cases:
        trial = Trial.prepare(case, folder, inputs)
        row: dict[str, Any] = {"command": case.name, "losses": []}
        for name, number in ERRORS.items():
            row[name] = 0
            for stage in range(stages):
                operation = 1 + stage * trial.operations // stages
                row[name] += _fault_at(trial, operation, number, row["losses"])
        row["tmpfs"] = _fill_small_disks(case, inputs, folder, row["losses"])
        rows.append(row)
        print(row, flush=True)
    return rows


def _fault_at(trial: Trial, operation: int, error: int, losses: list[str]) -> int:
    """Return 1 if a fault from that operation on stopped the command; add losses to the list."""
    trial.reset()
    return _recovery(trial, trial.run(on_operation=fail_from(operation, error)), losses)


def _recovery(trial: Trial, ended: Ended, losses: list[str]) -> int:
    """Check a run that met a fault, and run it again without one."""
    if ended.status == 0:
        return 0
    try:
        check_report(trial, ended)
        trial.check_outputs()
        trial.check_recovered(trial.resume())
    except LossError as error:
        losses.append(str(error))
        print(error, flush=True)
    return 1


def check_report(trial: Trial, ended: Ended) -> None:
    """Raise `LossError` unless the command exited with status 1 and its last line says why."""
    lines = [line for line in ended.errors.splitlines() if line and ": warning: " not in line]
    reasons = (os.strerror(errno.EROFS), os.strerror(errno.ENOSPC), "symbolic link")
    if ended.status != 1 or len(lines) != 1 or not any(each in lines[0] for each in reasons):
        raise LossError(f"{trial.case.name}: status {ended.status}: {ended.errors[-500:]}")


def _fill_small_disks(case: Case, inputs: Path, folder: Path, losses: list[str]) -> int:
    """Run a command on disks of several sizes; return how many of them were too small.

    Each disk is mounted in a child process with mounts of its own.
    """
    stopped = 0
    for fraction in _FRACTIONS:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            report = "the child failed"
            try:
                report = _run_on_small_disk(case, inputs, folder.with_name("disk"), fraction)
            except Exception as error:
                report = f"{case.name}: {error!r}"
            finally:
                os.write(writing, report.encode(errors="replace"))
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            report = pipe.read().decode()
        os.waitpid(child, 0)
        stopped += report == "stopped"
        if report not in ("stopped", "fits", "cannot mount"):
            losses.append(report)
    return stopped


def _run_on_small_disk(case: Case, inputs: Path, disk: Path, fraction: float) -> str:
    disk.mkdir(exist_ok=True)
    if ctypes.CDLL(None).unshare(_NEW_MOUNTS) != 0 or not _mount(disk, "size=64m"):
        return "cannot mount"
    losses: list[str] = []
    with mock.patch("thresher.atomic_files._TRIAL_BYTES", 1):  # so that later stages are reached
        trial = Trial.prepare(case, disk / "trial", inputs)
        trial.reset()
        needed = 4 * sum(map(len, trial.after.values())) - 3 * sum(map(len, trial.before.values()))
        free = max(8192, int(fraction * needed))
        _mount(disk, f"remount,size={_used_bytes(disk) + free}")
        ended = trial.run()
        if ended.status == 0:
            return "fits"
        _mount(disk, "remount,size=64m")
        _recovery(trial, ended, losses)
    return losses[0] if losses else "stopped"


def _mount(folder: Path, options: str) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _used_bytes(folder: Path) -> int:
    status = os.statvfs(folder)
    return (status.f_blocks - status.f_bfree) * status.f_frsize
