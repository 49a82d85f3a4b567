"""Records of JSONL, CSV and TSV files and of plain lines, one after the other, with their lines."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from thresher.errors import InputError
from thresher.text.sources import STANDARD_INPUT

FORMATS = ("jsonl", "csv", "tsv", "lines")
_FORMAT_OF = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".txt": "lines"}
_SEPARATORS = {"csv": ",", "tsv": "\t"}
_LONGEST = 1 << 24  # characters of a cell, which may be a whole document

# The number of a record's first line, and its fields or what is wrong with it.
Record = tuple[int, dict[str, Any] | InputError]


def record_format(name: str) -> str:
    """The format that a file's name stands for; JSONL for standard input."""
    if name == STANDARD_INPUT:
        return "jsonl"
    path = Path(name)
    suffix = (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()
    if suffix not in _FORMAT_OF:
        known = ", ".join(_FORMAT_OF)
        raise InputError(f"cannot tell the format of {name} by its name ({known}); say --from")
    return _FORMAT_OF[suffix]


def read_records(stream: IO[bytes], form: str, *, field: str) -> Iterator[Record]:
    """The records of a stream in one of the formats; a plain line is a record of one field."""
    if form == "jsonl":
        return _json_records(stream)
    if form == "lines":
        return _line_records(stream, field)
    return _table_records(stream, _SEPARATORS[form])


def _json_records(stream: IO[bytes]) -> Iterator[Record]:
    for number, line in enumerate(stream, 1):
        if line.isspace():
            continue
        try:
            record = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
        except (ValueError, RecursionError):
            yield number, InputError("not JSON in UTF-8")
            continue
        yield number, record if isinstance(record, dict) else InputError("not a JSON object")


def _line_records(stream: IO[bytes], field: str) -> Iterator[Record]:
    for number, line in enumerate(stream, 1):
        if line.isspace():
            continue
        try:
            yield number, {field: line.decode("utf-8-sig").rstrip("\r\n")}
        except UnicodeDecodeError:
            yield number, InputError("not UTF-8")


def _table_records(stream: IO[bytes], separator: str) -> Iterator[Record]:
    """The rows of a table whose first row names the columns."""
    lines = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline="")
    rows = csv.reader(lines, delimiter=separator, strict=True)
    columns: list[str] | None = None
    try:
        while True:
            number = rows.line_num + 1
            try:
                row = _next_row(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield number, InputError(f"not a row of a table: {error}")
                continue
            if not row:
                continue
            if columns is None:
                columns = row
                if twice := [name for name in row if row.count(name) > 1]:
                    yield number, InputError(f"two columns are called {twice[0]!r}")
                    return
            elif any(_undecodable(cell) for cell in row):
                yield number, InputError("not UTF-8")
            elif len(row) != len(columns):
                yield number, InputError(f"{len(row)} cells, where the header has {len(columns)}")
            else:
                yield number, dict(zip(columns, row, strict=True))
    finally:
        lines.detach()  # what opened the stream closes it


def _next_row(rows: Iterator[list[str]]) -> list[str]:
    """The next row; csv's limit on the length of a cell, the same for all that use it, is kept."""
    limit = csv.field_size_limit(_LONGEST)
    try:
        return next(rows)
    finally:
        csv.field_size_limit(limit)


def _undecodable(cell: str) -> bool:
    return any("\udc80" <= each <= "\udcff" for each in cell)
