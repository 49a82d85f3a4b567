"""A command as a process of its own: how long it takes, and how much memory all of it holds.

Memory is read from /proc, so on Linux alone.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_EVERY = 0.5  # seconds between two looks


@dataclass(frozen=True)
class Spent:
    """seconds: on the clock   peak_gb: of memory that is the processes' own, all together

    early_gb: the same after a third of the time, to tell whether memory grows
    mapped_gb: the most pages of files in memory, which the system may take back at any time
    """

    status: int
    seconds: float
    peak_gb: float
    early_gb: float
    mapped_gb: float
    told: str


class Held(NamedTuple):
    """Memory in GB: a process's own, and pages of files."""

    own: float
    mapped: float


def spent(
    arguments: list[str], *, meanwhile: Callable[[int], None] = lambda process: None
) -> Spent:
    """Run `thresher` with these arguments; `meanwhile` is called with its number now and then."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "thresher", *arguments]
    looks: list[Held] = []
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            looks.append(held(process.pid))
            meanwhile(process.pid)
            time.sleep(_EVERY)
        assert process.stderr is not None
        told = process.stderr.read()
    seconds = time.perf_counter() - started
    own = [look.own for look in looks]
    return Spent(
        process.returncode,
        round(seconds, 1),
        peak_gb=round(max(own), 2),
        early_gb=round(max(own[: max(1, len(own) // 3)]), 2),
        mapped_gb=round(max(look.mapped for look in looks), 2),
        told=told,
    )


def held(process: int) -> Held:
    """What a process and all that it started hold together; pages they share count for each."""
    every = {int(path.name): _status(path) for path in Path("/proc").glob("[0-9]*")}
    family = {process}
    while (
        more := {number for number, status in every.items() if status.get("PPid") in family}
        - family
    ):
        family |= more
    total = {
        name: sum(every.get(number, {}).get(name, 0) for number in family) * 1024 / 1e9
        for name in ("RssAnon", "RssShmem", "RssFile")
    }
    return Held(total["RssAnon"] + total["RssShmem"], total["RssFile"])


def _status(process: Path) -> dict[str, int]:
    """The numbers that are told of a process, of sizes in KiB; none if it has just ended."""
    try:
        lines = (process / "status").read_text().splitlines()
    except OSError:
        return {}
    pairs = (line.removesuffix(" kB").split(":", 1) for line in lines)
    return {name: int(value) for name, value in pairs if value.strip().isdecimal()}
