"""Read a stream of text in blocks that fit in memory and end, if possible, with a paragraph."""

from collections.abc import Iterator
from typing import IO

from thresher.errors import InputError, WarningHandler

BLOCK_BYTES = 1 << 18

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_MAX_INVALID = 0.1  # fraction of invalid bytes above which a file is not text


def read_text_blocks(
    stream: IO[bytes], *, name: str, on_problem: WarningHandler, size: int = BLOCK_BYTES
) -> Iterator[tuple[str, int]]:
    """Yield UTF-8 text in blocks, each with the number of its first line.

    The blocks joined are the whole text without its byte order mark. Bytes that are not UTF-8 are
    replaced by U+FFFD, and their lines are reported.

    size: number of bytes read at a time; a block has at most twice as many
    """
    line = 1
    for number, data in enumerate(_byte_blocks(stream, size)):
        if number == 0:
            _refuse_binary(data, name)
        yield _decode(data, name, line, on_problem), line
        line += data.count(b"\n")


def _byte_blocks(stream: IO[bytes], size: int) -> Iterator[bytes]:
    pending = stream.read(size).removeprefix(_BYTE_ORDER_MARK)
    while new := stream.read(size):
        pending += new
        end = _block_end(pending)
        if end:
            yield pending[:end]
        pending = pending[end:]
    if pending:
        yield pending


def _block_end(data: bytes) -> int:
    """Return where to end a block: in the second half after a paragraph, a line or a word."""
    half = len(data) // 2
    for separator in (b"\n\n", b"\r\n\r\n", b"\n", b" "):
        index = data.rfind(separator, half)
        if index >= 0:
            return index + len(separator)
    for index in range(len(data) - 1, max(len(data) - 5, -1), -1):
        if data[index] & 0b1100_0000 != 0b1000_0000:  # the first byte of a character
            return index
    return len(data)


def _refuse_binary(data: bytes, name: str) -> None:
    if data.startswith(_UTF_16):
        raise InputError(f"{name} is UTF-16 text; convert it to UTF-8, or give `encoding=utf-16`")
    if b"\0" in data:
        raise InputError(f"{name} is not text: it has NUL bytes")
    if data.decode(errors="replace").count("\ufffd") > _MAX_INVALID * len(data):
        raise InputError(f"{name} is not UTF-8 text")


def _decode(data: bytes, name: str, first_line: int, on_problem: WarningHandler) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        for number, line in enumerate(data.split(b"\n"), first_line):
            if not _is_utf_8(line):
                on_problem(
                    f"{name} line {number}: not valid UTF-8; invalid bytes are read as U+FFFD"
                )
        return data.decode(errors="replace")


def _is_utf_8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
