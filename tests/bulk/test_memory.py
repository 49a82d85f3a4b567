"""Freed memory goes back to the system."""

import platform
import subprocess
import sys

import pytest

from thresher.bulk import memory
from thresher.bulk.memory import EVERY, FreedMemory

HOLES = """
import ctypes
from thresher.bulk.memory import FreedMemory

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
FreedMemory().give_back()
print(full - kept, full - resident(), size * count)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="this is about glibc's malloc")
def test_memory_between_blocks_in_use_is_given_back():
    ran = subprocess.run(
        [sys.executable, "-c", HOLES], capture_output=True, text=True, check=True, timeout=60
    )
    by_free, in_all, freed = map(int, ran.stdout.split())
    assert by_free < 0.2 * freed, "malloc gave it back by itself: this shows nothing"
    assert in_all > 0.8 * freed


def test_it_is_given_back_no_more_than_once_in_a_while(monkeypatch):
    now, calls = [100.0], []
    monkeypatch.setattr(memory.time, "monotonic", lambda: now[0])
    freed = FreedMemory()
    freed._trim = calls.append
    for moment in (100.0, 100.0 + EVERY / 2, 100.0 + 1.1 * EVERY, 100.0 + 1.2 * EVERY):
        now[0] = moment
        freed.give_back()
    assert len(calls) == 2


@pytest.mark.parametrize("error", [OSError, AttributeError, TypeError])
def test_where_the_library_has_no_such_thing_nothing_is_asked_of_it(monkeypatch, error):
    asked = []

    def refuse(name):
        asked.append(name)
        raise error

    monkeypatch.setattr(memory.ctypes, "CDLL", refuse)
    freed = FreedMemory()
    freed.give_back()
    assert asked == [None]
    assert freed._next == 0
