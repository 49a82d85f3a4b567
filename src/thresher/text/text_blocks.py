"""A stream of text in blocks that fit in memory, each a run of whole paragraphs if it can be."""

from collections.abc import Iterator
from typing import IO

from thresher.errors import InputError, WarningHandler

BLOCK = 1 << 18  # bytes

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def text_blocks(
    stream: IO[bytes], *, name: str, report: WarningHandler, size: int = BLOCK
) -> Iterator[tuple[str, int]]:
    """UTF-8 text block by block, each with the number of its first line.

    The blocks one after the other are the whole text, less a byte order mark. Bytes that are not
    UTF-8 become U+FFFD, and their line is reported.
    """
    line = 1
    for number, data in enumerate(_byte_blocks(stream, size)):
        if number == 0:
            _refuse_binary(data, name)
        yield _decoded(data, name, line, report), line
        line += data.count(b"\n")


def _byte_blocks(stream: IO[bytes], size: int) -> Iterator[bytes]:
    pending = stream.read(size).removeprefix(_BYTE_ORDER_MARK)
    while fresh := stream.read(size):
        pending += fresh
        cut = _cut(pending)
        if cut:
            yield pending[:cut]
        pending = pending[cut:]
    if pending:
        yield pending


def _cut(data: bytes) -> int:
    """Where to end a block, in its second half: after a paragraph, a line, a word, or a letter."""
    half = len(data) // 2
    for separator in (b"\n\n", b"\r\n\r\n", b"\n", b" "):
        at = data.rfind(separator, half)
        if at >= 0:
            return at + len(separator)
    for at in range(len(data) - 1, max(len(data) - 5, -1), -1):
        if data[at] & 0b1100_0000 != 0b1000_0000:  # the first byte of a letter
            return at
    return len(data)


def _refuse_binary(data: bytes, name: str) -> None:
    if data.startswith(_UTF_16):
        raise InputError(f"{name} is UTF-16 text; convert it to UTF-8")
    if b"\0" in data:
        raise InputError(f"{name} is not text: it has NUL bytes")
    if data.decode(errors="replace").count("\ufffd") > 0.1 * len(data):
        raise InputError(f"{name} is not UTF-8 text")


def _decoded(data: bytes, name: str, first_line: int, report: WarningHandler) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        for number, line in enumerate(data.split(b"\n"), first_line):
            if not _is_utf_8(line):
                report(f"{name} line {number}: not valid UTF-8; its bad bytes are read as U+FFFD")
        return data.decode(errors="replace")


def _is_utf_8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
