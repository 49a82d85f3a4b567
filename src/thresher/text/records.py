"""JSON records as files hold them: one a line, or all in one array."""

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

from thresher.errors import InputError, WarningHandler

Content = dict[str, Any]


class Record(NamedTuple):
    """A JSON object, its number in its file, and how messages call it."""

    content: Content
    number: int
    place: str


def json_line(content: Content) -> str:
    """A record as a line that can be encoded, with its line break."""
    line = json.dumps(content, ensure_ascii=False)
    if not _is_unicode(line):  # half a surrogate pair can only be written as an escape
        line = json.dumps(content)
    return line + "\n"


def _is_unicode(line: str) -> bool:
    try:
        line.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_lines(raw: Iterable[bytes], *, name: str, report: WarningHandler) -> Iterator[Record]:
    """The records of a file that has one a line."""
    for number, line in enumerate(raw, 1):
        if line.isspace():
            continue
        place = f"{name} line {number}"
        try:
            content = json.loads(line)
        except (ValueError, RecursionError):
            report(f"{place}: not JSON in UTF-8")
        else:
            yield from _checked(content, number, place, report)


def read_records(raw: Iterable[bytes], *, name: str, report: WarningHandler) -> Iterator[Record]:
    """The records of a file in either form. An array is held in memory as a whole."""
    lines = iter(raw)
    start: list[bytes] = []
    for line in lines:
        start.append(line)
        if not line.isspace():
            break
    whole = chain(start, lines)
    if not start or not start[-1].lstrip(b"\xef\xbb\xbf \t").startswith(b"["):
        yield from read_lines(whole, name=name, report=report)
        return
    try:
        contents = json.loads(b"".join(whole))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is neither an array nor lines of JSON in UTF-8") from error
    for number, content in enumerate(contents, 1):
        yield from _checked(content, number, f"{name} record {number}", report)


def _checked(content: object, number: int, place: str, report: WarningHandler) -> Iterator[Record]:
    if isinstance(content, dict):
        yield Record(content, number, place)
    else:
        report(f"{place}: not a JSON object")


def text_of(content: Content, field: str) -> str:
    """The text that a record holds."""
    if field not in content:
        raise InputError(f"no field {field!r}; it has {', '.join(content) or 'none'}")
    if not isinstance(text := content[field], str):
        raise InputError(f"field {field!r} is not a string")
    return text
