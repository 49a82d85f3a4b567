"""Read text in another character encoding as UTF-8."""

import codecs
import io
from typing import IO, cast

from thresher.errors import InputError

_READ_BYTES = 1 << 16
# Codecs of Python that turn text into text, not bytes of a file into text.
_NOT_ENCODINGS = frozenset(
    ["idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined"]
)


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
