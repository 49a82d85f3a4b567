"""Streams that recode text as UTF-8, and that decompress gzip up to a limit."""

import codecs
import gzip
import io
from typing import IO, cast

from thresher.errors import InputError

_READ_BYTES = 1 << 16
# Codecs of Python that turn text into text, not bytes of a file into text.
_NOT_ENCODINGS = frozenset(
    ["idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined"]
)
MAGIC = b"\x1f\x8b"
MAX_RATIO = 200  # text rarely compresses to less than a fiftieth
FREE_BYTES = 1 << 26  # of decompressed content, before the ratio is checked


def require_encoding(encoding: str) -> str:
    """Return the name of a character encoding; raise InputError if it is unknown."""
    try:
        name = codecs.lookup(encoding).name
        bytes(4).decode(name)  # a codec such as zip is not a character encoding
    except (LookupError, ValueError):
        name = "undefined"
    if name.replace("_", "-") in _NOT_ENCODINGS:
        raise InputError(
            f"unknown `encoding` {encoding!r}; examples are utf-8, utf-16, latin-1, cp1252"
        )
    return name


def as_utf8(stream: IO[bytes], encoding: str, *, name: str) -> io.BufferedReader:
    """Return a stream of the same text in UTF-8.

    name: the name of the source, for messages
    """
    return io.BufferedReader(_Recoded(stream, encoding, name), _READ_BYTES)


class _Recoded(io.RawIOBase):
    def __init__(self, stream: IO[bytes], encoding: str, name: str) -> None:
        self._stream = stream
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._name = name
        self._pending = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        target = cast(memoryview, buffer)
        while not self._pending and not self._ended:
            raw = self._stream.read(_READ_BYTES)
            self._ended = not raw
            try:
                self._pending = self._decoder.decode(raw, final=self._ended).encode()
            except UnicodeError as error:
                raise InputError(f"{self._name} is not {self._encoding} text: {error}") from error
        count = min(len(target), len(self._pending))
        target[:count] = self._pending[:count]
        self._pending = self._pending[count:]
        return count


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
