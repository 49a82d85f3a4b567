"""A text in a UTF-8 file that is used like a string without being read into memory.

A file of several gigabytes is addressed by characters, as a string is: splits and tokens are the
same, whether a text comes from memory or from a file.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from thresher.atomic_files import open_atomic
from thresher.errors import InputError, os_errors_as_input_errors

_BLOCK = 1 << 20  # bytes that are read at a time


class TextFile:
    """The characters of a UTF-8 file; supports `len`, slices, `find` and `count` of ASCII text."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with os_errors_as_input_errors(f"cannot read {path}"):
            with path.open("rb", buffering=0) as file:
                counts = [_characters(block) for block in iter(lambda: file.read(_BLOCK), b"")]
            self._bytes = path.stat().st_size
        self._starts = np.cumsum([0, *counts])  # the number of characters before each block

    @classmethod
    def write(cls, path: Path, texts: Iterable[str]) -> "TextFile":
        """Write texts one after the other to a file, atomically, and return it.

        Half a surrogate pair, which JSON can contain, is replaced by a question mark.
        """
        with os_errors_as_input_errors(f"cannot write {path}"), open_atomic(path) as file:
            for text in texts:
                file.write(text.encode(errors="replace"))
        return cls(path)

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __getitem__(self, item: slice | int) -> str:
        if isinstance(item, int):
            item = slice(item, item + 1)
        start, stop, step = item.indices(len(self))
        if step != 1:
            raise ValueError("a TextFile has no steps in slices")
        if stop <= start:
            return ""
        first, last = self._byte_position(start), self._byte_position(stop)
        try:
            return self._read(first, last).decode()
        except UnicodeDecodeError as error:
            raise InputError(f"{self.path} is not UTF-8 text: {error.reason}") from error

    def find(self, part: str, start: int = 0, stop: int | None = None) -> int:
        """Return the first position of an ASCII character, or -1."""
        stop = len(self) if stop is None else min(stop, len(self))
        if stop <= start:
            return -1
        first, last = self._byte_position(start), self._byte_position(stop)
        position = start
        for offset in range(first, last, _BLOCK):
            block = self._read(offset, min(offset + _BLOCK, last))
            found = block.find(part.encode())
            if found >= 0:
                return position + _characters(block[:found])
            position += _characters(block)
        return -1

    def count(self, part: str, start: int = 0, stop: int | None = None) -> int:
        """Return how often an ASCII character occurs."""
        stop = len(self) if stop is None else min(stop, len(self))
        first, last = self._byte_position(start), self._byte_position(stop)
        return sum(
            self._read(offset, min(offset + _BLOCK, last)).count(part.encode())
            for offset in range(first, last, _BLOCK)
        )

    def _byte_position(self, character: int) -> int:
        """Return where a character begins; for the number of characters, the end of the file."""
        if character >= len(self):
            return self._bytes
        block = int(np.searchsorted(self._starts, character, side="right")) - 1
        content = np.frombuffer(self._read(block * _BLOCK, (block + 1) * _BLOCK), np.uint8)
        begins = np.flatnonzero(_is_first_byte(content))
        return block * _BLOCK + int(begins[character - int(self._starts[block])])

    def _read(self, start: int, stop: int) -> bytes:
        with (
            os_errors_as_input_errors(f"cannot read {self.path}"),
            self.path.open("rb", buffering=0) as file,
        ):
            file.seek(start)
            return file.read(stop - start)


def _is_first_byte(content: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which bytes begin a character; the others continue one."""
    begins: NDArray[np.bool_] = (content & 0b1100_0000) != 0b1000_0000
    return begins


def _characters(content: bytes) -> int:
    return int(np.count_nonzero(_is_first_byte(np.frombuffer(content, np.uint8))))
