"""Run a command in a process of its own and measure its time and memory.

Memory is read from /proc, so this works only on Linux.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_INTERVAL = 0.5  # seconds between two measurements


@dataclass(frozen=True)
class ProcessUsage:
    """The time and memory of a process and its descendants.

    seconds: wall-clock time
    peak_gb: maximum of the private memory of all processes together
    early_gb: maximum in the first third of the time, to see whether memory grows
    mapped_gb: maximum of the pages of files in memory, which the system can evict at any time
    """

    status: int
    seconds: float
    peak_gb: float
    early_gb: float
    mapped_gb: float
    stderr: str


class MemoryUse(NamedTuple):
    """Memory in GB: private memory, and pages of mapped files."""

    private: float
    mapped: float


def run_thresher(
    arguments: list[str], *, on_poll: Callable[[int], None] = lambda process: None
) -> ProcessUsage:
    """Run `thresher` with these arguments and measure it.

    on_poll: called with the process id twice per second
    """
    started = time.perf_counter()
    command = [sys.executable, "-m", "thresher", *arguments]
    measured: list[MemoryUse] = []
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            measured.append(memory_use(process.pid))
            on_poll(process.pid)
            time.sleep(_INTERVAL)
        assert process.stderr is not None
        stderr = process.stderr.read()
    seconds = time.perf_counter() - started
    private = [each.private for each in measured]
    return ProcessUsage(
        process.returncode,
        round(seconds, 1),
        peak_gb=round(max(private), 2),
        early_gb=round(max(private[: max(1, len(private) // 3)]), 2),
        mapped_gb=round(max(each.mapped for each in measured), 2),
        stderr=stderr,
    )


def memory_use(process: int) -> MemoryUse:
    """Return the memory of a process and its descendants; shared pages count for each of them."""
    statuses = {int(path.name): _status(path) for path in Path("/proc").glob("[0-9]*")}
    family = {process}
    while (
        more := {number for number, status in statuses.items() if status.get("PPid") in family}
        - family
    ):
        family |= more
    total = {
        name: sum(statuses.get(number, {}).get(name, 0) for number in family) * 1024 / 1e9
        for name in ("RssAnon", "RssShmem", "RssFile")
    }
    return MemoryUse(total["RssAnon"] + total["RssShmem"], total["RssFile"])


def _status(process: Path) -> dict[str, int]:
    """Return the numeric fields of /proc/…/status, sizes in KiB; empty if the process has ended."""
    try:
        lines = (process / "status").read_text().splitlines()
    except OSError:
        return {}
    pairs = (line.removesuffix(" kB").split(":", 1) for line in lines)
    return {name: int(value) for name, value in pairs if value.strip().isdecimal()}
