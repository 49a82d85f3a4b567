"""Read records: JSON lines, JSON arrays, CSV and TSV tables, and plain lines.

Every function yields `Record`s and skips what it cannot read after describing it, in one line, to
`on_problem`. Parquet files are read by `thresher.text.parquet`.
"""

import csv
import io
import json
import math
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import IO, Any, NamedTuple

from thresher.errors import InputError, WarningHandler
from thresher.text.choices import RecordFormat

JsonObject = dict[str, Any]
NumberedLines = Iterable[tuple[int, bytes]]  # each line with its line number or its byte offset

_DELIMITERS = {RecordFormat.CSV: ",", RecordFormat.TSV: "\t"}
_MAX_NESTING = 100  # of the values of a JSON record
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*+"')
_BRACKETS = re.compile(rb"[\[\]{}]")
_QUOTED = re.compile(r'"[^"]*"')
_MAX_CELL_LENGTH = 1 << 24  # in characters: a cell may contain a whole document


class Record(NamedTuple):
    """The fields of one record and where it was found.

    number: the record's first line, its byte offset, its row or its index in an array
    location: source and number, for messages: "notes.jsonl line 3"
    """

    values: JsonObject
    number: int
    location: str


def read_records(
    stream: IO[bytes],
    record_format: str,
    *,
    name: str,
    on_problem: WarningHandler,
    field: str = "text",
) -> Iterator[Record]:
    """Read the records of a stream in one of the formats `RecordFormat`.

    name: the name of the stream, for messages
    field: in the format `lines`, the field that gets the line
    """
    chosen = RecordFormat(record_format)
    if chosen in _DELIMITERS:
        return table_records(stream, _DELIMITERS[chosen], name=name, on_problem=on_problem)
    lines = enumerate(stream, 1)
    if chosen == RecordFormat.LINES:
        return line_records(lines, field=field, name=name, on_problem=on_problem)
    return jsonl_records(lines, name=name, on_problem=on_problem)


def jsonl_records(
    lines: NumberedLines, *, name: str, on_problem: WarningHandler, unit: str = "line"
) -> Iterator[Record]:
    """Read one JSON object per line; blank lines are ignored.

    unit: what the numbers of the lines count, for messages
    """
    for number, line in lines:
        if line.isspace():
            continue
        location = f"{name} {unit} {number}"
        try:
            values = json.loads(line.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            on_problem(f"{location}: not JSON in UTF-8")
            continue
        if _is_nested_too_deeply(line):
            on_problem(f"{location}: nested too deeply")
        else:
            yield from _json_object(values, number, location, on_problem)


def _is_nested_too_deeply(line: bytes) -> bool:
    """Return True if a JSON value may be nested so deeply that writing it again could fail."""
    if line.count(b"[") + line.count(b"{") <= _MAX_NESTING:
        return False
    depth = deepest = 0
    for bracket in _BRACKETS.findall(_STRINGS.sub(b"", line)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest > _MAX_NESTING


def json_records(
    raw_lines: Iterable[bytes], *, name: str, on_problem: WarningHandler
) -> Iterator[Record]:
    """Read JSON lines, or one JSON array of objects; an array is read into memory as a whole."""
    lines = iter(raw_lines)
    start: list[bytes] = []
    for line in lines:
        start.append(line)
        if not line.isspace():
            break
    all_lines = chain(start, lines)
    if not start or not start[-1].lstrip(b"\xef\xbb\xbf \t").startswith(b"["):
        yield from jsonl_records(enumerate(all_lines, 1), name=name, on_problem=on_problem)
        return
    try:
        content = b"".join(all_lines)
        array = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is neither a JSON array nor JSON lines in UTF-8") from error
    if _is_nested_too_deeply(content):
        raise InputError(f"{name} is nested too deeply")
    for number, values in enumerate(array, 1):
        yield from _json_object(values, number, f"{name} record {number}", on_problem)


def _json_object(
    values: object, number: int, location: str, on_problem: WarningHandler
) -> Iterator[Record]:
    if isinstance(values, dict):
        yield Record(values, number, location)
    else:
        on_problem(f"{location}: not a JSON object")


def line_records(
    lines: NumberedLines,
    *,
    field: str,
    name: str,
    on_problem: WarningHandler,
    unit: str = "line",
    replace_invalid: bool = False,
) -> Iterator[Record]:
    """Read each line that is not blank as a record with one field.

    replace_invalid: read bytes that are not UTF-8 as U+FFFD, instead of skipping the line
    """
    for number, line in lines:
        if line.isspace():
            continue
        location = f"{name} {unit} {number}"
        try:
            text = line.decode("utf-8-sig")
        except UnicodeDecodeError:
            if not replace_invalid:
                on_problem(f"{location}: not UTF-8")
                continue
            on_problem(f"{location}: not valid UTF-8; invalid bytes are read as U+FFFD")
            text = line.decode("utf-8-sig", errors="replace")
        yield Record({field: text.rstrip("\r\n")}, number, location)


def table_records(
    stream: IO[bytes], delimiter: str, *, name: str, on_problem: WarningHandler
) -> Iterator[Record]:
    """Read the rows of a CSV or TSV table whose first row names the columns."""
    columns: list[str] | None = None
    for number, row in _table_rows(stream, delimiter):
        location = f"{name} line {number}"
        if isinstance(row, csv.Error):
            on_problem(f"{location}: not a row of a table: {row}")
        elif columns is None:
            columns = row
            if (repeated := _repeated(row)) is not None:
                on_problem(f"{location}: two columns are called {repeated!r}")
                return
        elif any(_is_undecodable(cell) for cell in row):
            on_problem(f"{location}: not UTF-8")
        elif len(row) != len(columns):
            cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
            on_problem(f"{location}: {cells}, but the header has {len(columns)}")
        else:
            yield Record(dict(zip(columns, row, strict=True)), number, location)


def _table_rows(
    stream: IO[bytes], delimiter: str
) -> Iterator[tuple[int, list[str]] | tuple[int, csv.Error]]:
    """Yield the first line of each row that is not empty, and the row or what is wrong with it."""
    text = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline="")
    start = _first_lines(text)
    if delimiter == "," and _has_semicolons(start[-1]):
        delimiter = ";"
    reader = csv.reader(chain(start, text), delimiter=delimiter, strict=True)
    try:
        while True:
            number = reader.line_num + 1
            try:
                row = _next_row(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield number, error
            else:
                if row:
                    yield number, row
    finally:
        if not stream.closed:
            text.detach()  # the stream is closed by the code that opened it


def _first_lines(text: IO[str]) -> list[str]:
    """Return the lines up to the first one that is not empty, which names the columns."""
    lines = [text.readline()]
    while lines[-1] and not lines[-1].strip("\r\n"):
        lines.append(text.readline())
    return lines


def _has_semicolons(header: str) -> bool:
    """Return True if semicolons separate the columns of a CSV table, and commas do not.

    Spreadsheet programs write such tables where a comma is the decimal sign.
    """
    unquoted = _QUOTED.sub("", header)
    return ";" in unquoted and "," not in unquoted


def _next_row(reader: Iterator[list[str]]) -> list[str]:
    """Read a row with a larger cell limit; csv's limit is global, so it is restored at once."""
    limit = csv.field_size_limit(_MAX_CELL_LENGTH)
    try:
        return next(reader)
    finally:
        csv.field_size_limit(limit)


def _repeated(columns: Sequence[str]) -> str | None:
    """Return a name that two columns have, or None; a table may have many columns."""
    return next((name for name, count in Counter(columns).items() if count > 1), None)


def _is_undecodable(cell: str) -> bool:
    """Return True if the cell has bytes that are not UTF-8, which were read as surrogates."""
    return any("\udc80" <= character <= "\udcff" for character in cell)


def is_missing(value: object) -> bool:
    """Return True for the missing values of Python, JSON, NumPy, pandas and polars."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and math.isnan(value)


def text_field(values: JsonObject, field: str) -> str:
    """Return the text in a field of a record, "" if its value is missing (null or NaN).

    A record without the field, and a value that is not a string, raise InputError.
    """
    if field not in values:
        raise InputError(missing_field(values, field))
    if is_missing(text := values[field]):
        return ""
    if not isinstance(text, str):
        raise InputError(f"field {field!r} is not a string")
    return text


def split_text(values: JsonObject, field: str) -> tuple[str, JsonObject]:
    """Return the text in a field of a record, and all other fields."""
    text = text_field(values, field)
    return text, {name: value for name, value in values.items() if name != field}


def missing_field(values: JsonObject, field: str) -> str:
    """Return the message for a record without the field; it lists the fields that it has."""
    return f"no field {field!r}; it has {', '.join(map(str, values)) or 'none'}"


def to_json_line(values: JsonObject) -> str:
    """Return a record as a line of JSON that can be encoded as UTF-8, with its line break.

    Dates and other values that JSON does not have, from Parquet files, become strings.
    """
    line = to_json(values)
    try:
        line.encode()
    except UnicodeEncodeError:  # a lone surrogate can only be written as an escape
        line = json.dumps(json.loads(line))
    return line + "\n"


def to_json(value: object) -> str:
    """Return a value as JSON in one line; NaN and infinity become null."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_to_string)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, default=_to_string)


def field_text(value: object) -> str:
    """Return the value of a field as readers see it: a string unchanged, other values as JSON."""
    if not isinstance(value, str | dict | list | bool | int | float | None):
        value = _to_string(value)
    return value if isinstance(value, str) else to_json(value)


def _to_string(value: object) -> str:
    return b64encode(value).decode() if isinstance(value, bytes) else str(value)


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
