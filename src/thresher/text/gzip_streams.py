"""Read gzip files, recognised by their content, with a limit on how far they may expand."""

import gzip
import io
from typing import IO, cast

from thresher.errors import InputError

MAGIC = b"\x1f\x8b"
MAX_RATIO = 200  # text rarely compresses to less than a fiftieth
FREE_BYTES = 1 << 26  # of decompressed content, before the ratio is checked


class BoundedGzipFile(gzip.GzipFile):
    """A gzip file that raises InputError if it expands like a decompression bomb."""

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._compressed = _CountedReader(stream)
        self._source = name
        self._expanded = 0
        super().__init__(fileobj=cast(IO[bytes], self._compressed), mode="rb")

    def read(self, size: int | None = -1) -> bytes:
        """Read decompressed bytes."""
        content = super().read(size)
        self._expanded += len(content)
        if self._expanded > max(FREE_BYTES, MAX_RATIO * self._compressed.count):
            raise InputError(
                f"{self._source} expands to more than {MAX_RATIO} times its size, like a "
                "decompression bomb; decompress it first if it is not one"
            )
        return content


class _CountedReader(io.RawIOBase):
    """A stream that counts the bytes read from it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.count = 0

    def read(self, size: int | None = -1) -> bytes:
        content = self._stream.read(-1 if size is None else size)
        self.count += len(content)
        return content

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()
