"""Memory of long-running processes: return freed memory, and collect garbage rarely."""

import ctypes
import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

TRIM_INTERVAL = 1.0  # seconds; a call takes milliseconds and finds little to do if repeated sooner
_GARBAGE_COLLECTION_THRESHOLD = 100_000  # new objects between two collections; Python's is 700


class MemoryTrimmer:
    """Returns memory that malloc has freed but kept to the operating system.

    Batches of many different shapes fragment the heap of glibc's malloc: within a minute, a process
    that uses 400 MB occupies twice as much. Other C libraries have no `malloc_trim`; with them
    nothing is done.
    """

    def __init__(self) -> None:
        self._malloc_trim = _find_malloc_trim()
        self._next_time = 0.0

    def trim(self) -> None:
        """Return freed memory, at most once in `TRIM_INTERVAL` seconds."""
        now = time.monotonic()
        if self._malloc_trim is not None and now >= self._next_time:
            self._malloc_trim(0)
            self._next_time = now + TRIM_INTERVAL


def _find_malloc_trim() -> Callable[[int], int] | None:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # another C library; TypeError on Windows
        return None


def collect_garbage_rarely() -> None:
    """Make garbage collection rare in this process.

    Importing torch creates 300,000 objects, and finding entities millions of words, none of them in
    a reference cycle. With Python's default, a fifth of the time of a short command and a sixth of
    that of a long one would go into looking for cycles.
    """
    gc.set_threshold(_GARBAGE_COLLECTION_THRESHOLD, *gc.get_threshold()[1:])


@contextmanager
def rare_garbage_collection() -> Iterator[None]:
    """Make garbage collection rare inside the `with` block."""
    before = gc.get_threshold()
    collect_garbage_rarely()
    try:
        yield
    finally:
        gc.set_threshold(*before)
