"""A command as a process of its own: how long it takes, and how much memory all of it holds."""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import psutil

_EVERY = 0.5  # seconds between two looks


@dataclass(frozen=True)
class Spent:
    """seconds: on the clock   peak_gb: of memory that is the processes' own, all together

    early_gb: the same after a third of the time, to tell whether memory grows
    """

    status: int
    seconds: float
    peak_gb: float
    early_gb: float
    told: str


def spent(
    arguments: list[str], *, meanwhile: Callable[[psutil.Process], None] = lambda process: None
) -> Spent:
    """Run `thresher` with these arguments; `meanwhile` is called with it now and then."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "thresher", *arguments]
    held: list[float] = []
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        whole = psutil.Process(process.pid)
        while process.poll() is None:
            held.append(_memory(whole))
            meanwhile(whole)
            time.sleep(_EVERY)
        assert process.stderr is not None
        told = process.stderr.read()
    seconds = time.perf_counter() - started
    early = max(held[: max(1, len(held) // 3)])
    return Spent(process.returncode, round(seconds, 1), round(max(held), 2), round(early, 2), told)


def _memory(process: psutil.Process) -> float:
    total = 0
    for each in (process, *children(process)):
        try:
            total += each.memory_full_info().uss
        except psutil.Error:  # it has just ended
            continue
    return total / 1e9


def children(process: psutil.Process) -> list[psutil.Process]:
    """All that it started, and they."""
    try:
        return list(process.children(recursive=True))
    except psutil.Error:
        return []
