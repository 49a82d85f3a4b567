"""The memory of a process that finds for long: freed memory goes back, cycles are sought seldom."""

import ctypes
import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EVERY = 1.0  # seconds; a call takes milliseconds, and finds little to do sooner
_NEW_OBJECTS = 100_000  # between two looks for cycles, instead of 700


class FreedMemory:
    """What malloc has freed but kept.

    Batches of ever other shapes leave holes that glibc's malloc fills badly: within a minute a
    process that holds 400 MB has twice as much. Other C libraries have nothing of the kind, and
    there nothing happens.
    """

    def __init__(self) -> None:
        self._trim = _malloc_trim()
        self._next = 0.0

    def give_back(self) -> None:
        """Return it, at most once in `EVERY` seconds."""
        now = time.monotonic()
        if self._trim is not None and now >= self._next:
            self._trim(0)
            self._next = now + EVERY


def _malloc_trim() -> Callable[[int], int] | None:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # another library; TypeError on Windows
        return None


def collect_seldom() -> None:
    """For a process that does nothing but find: its words come by the million, none in a cycle.

    To look for objects that only refer to each other at every 700th takes a sixth of the time.
    """
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """The same while the block runs, for a process that goes on to other things."""
    before = gc.get_threshold()
    collect_seldom()
    try:
        yield
    finally:
        gc.set_threshold(*before)
