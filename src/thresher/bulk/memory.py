"""Give freed memory back to the system while a process runs for long."""

import ctypes
import time
from collections.abc import Callable

EVERY = 1.0  # seconds; a call takes milliseconds, and finds little to do sooner


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
