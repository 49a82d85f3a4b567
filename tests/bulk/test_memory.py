"""Freed memory is returned to the operating system."""

import platform
import subprocess
import sys

import pytest

from thresher.bulk import memory
from thresher.bulk.memory import TRIM_INTERVAL, MemoryTrimmer

HOLES = """
import ctypes
from thresher.bulk.memory import MemoryTrimmer

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

size, count = 60_000, 2_000
blocks = [libc.malloc(size) for _ in range(count)]
for block in blocks:
    ctypes.memset(block, 1, size)
full = resident()
for block in blocks[: count - 1]:  # the last one stays, so that the heap cannot shrink from its end
    libc.free(block)
kept = resident()
MemoryTrimmer().trim()
print(full - kept, full - resident(), size * count)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="this is about glibc's malloc")
def test_memory_between_blocks_in_use_is_returned():
    ran = subprocess.run(
        [sys.executable, "-c", HOLES], capture_output=True, text=True, check=True, timeout=60
    )
    by_free, in_all, freed = map(int, ran.stdout.split())
    assert by_free < 0.2 * freed, "malloc returned it without a call: the test shows nothing"
    assert in_all > 0.8 * freed


def test_memory_is_returned_at_most_once_per_interval(monkeypatch):
    now, calls = [100.0], []
    monkeypatch.setattr(memory.time, "monotonic", lambda: now[0])
    freed = MemoryTrimmer()
    freed._malloc_trim = calls.append
    for moment in (
        100.0,
        100.0 + TRIM_INTERVAL / 2,
        100.0 + 1.1 * TRIM_INTERVAL,
        100.0 + 1.2 * TRIM_INTERVAL,
    ):
        now[0] = moment
        freed.trim()
    assert len(calls) == 2


@pytest.mark.parametrize("error", [OSError, AttributeError, TypeError])
def test_without_malloc_trim_nothing_is_done(monkeypatch, error):
    names = []

    def refuse(name):
        names.append(name)
        raise error

    monkeypatch.setattr(memory.ctypes, "CDLL", refuse)
    freed = MemoryTrimmer()
    freed.trim()
    assert names == [None]
    assert freed._next_time == 0
