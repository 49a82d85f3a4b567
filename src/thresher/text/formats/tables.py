"""Write rows with named columns as CSV, TSV or Parquet.

Records may have different fields, and the first line of a table names all of its columns. So rows
are first written to a temporary file, and to the table when all of them are known: a table may be
larger than memory.
"""

import csv
import io
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

from thresher.errors import requires_extra
from thresher.text.records import JsonObject, field_text, to_json_line

_ROWS_PER_GROUP = 20_000  # of a Parquet file
_COPIED_BYTES = 1 << 20

# Spreadsheet programs run a cell that begins with one of these characters as a formula.
# Not standard input, a source that Thresher writes as "-" or "-:12": without an operand it is text.
_FORMULA = re.compile(r"(?!-(?::[0-9]+)?\Z)'*[=+\-@\t\r]")


class _StoredRows:
    """Rows in a temporary file, and the types of the values of each column."""

    def __init__(self, rows: Iterable[JsonObject], file: IO[bytes], first: Sequence[str]) -> None:
        self._file = file
        self.types: dict[str, set[type]] = defaultdict(set, {name: set() for name in first})
        for row in rows:
            line = to_json_line(row).encode()
            for name, value in json.loads(line).items():
                self.types[name].add(_type(value))
            file.write(line)

    def __iter__(self) -> Iterator[JsonObject]:
        self._file.seek(0)
        return map(json.loads, self._file)

    def columns(self, last: Sequence[str]) -> list[str]:
        """Return the names of all columns; those of `last` come last."""
        return [*(name for name in self.types if name not in last), *last]


def _type(value: object) -> type:
    """Return the type of a value; str for an integer of more than 64 bits."""
    return str if isinstance(value, int) and not -(2**63) <= value < 2**63 else type(value)


def to_csv(
    rows: Iterable[JsonObject],
    *,
    first: Sequence[str] = (),
    last: Sequence[str] = (),
    delimiter: str = ",",
    escape_formulas: bool = True,
) -> Iterator[str]:
    """Yield the lines of a table; a missing value is an empty cell, other values are JSON.

    first, last: columns at both ends, also if no row has them
    escape_formulas: put an apostrophe before a string that a spreadsheet program would run as a
        formula because it begins with = + - @, a tab or CR; `unescape_formula` removes it
    """
    with tempfile.TemporaryFile() as file:
        stored = _StoredRows(rows, file, first)
        columns = stored.columns(last)
        yield _line(columns, delimiter, escape=escape_formulas)
        for row in stored:
            values = [row.get(name) for name in columns]
            yield _line(values, delimiter, escape=escape_formulas)


def _line(values: Iterable[object], delimiter: str, *, escape: bool) -> str:
    line = io.StringIO()
    # With LF as its line end, csv would not quote cells that contain CR before Python 3.13.
    writer = csv.writer(line, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow([_cell(value, escape=escape) for value in values])
    return line.getvalue().removesuffix("\r\n") + "\n"


def _cell(value: object, *, escape: bool) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return field_text(value)
    return f"'{value}" if escape and _FORMULA.match(value) else value


def unescape_formula(cell: str) -> str:
    """Return the string that `to_csv` wrote as this cell."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def to_parquet(
    rows: Iterable[JsonObject], *, first: Sequence[str] = (), last: Sequence[str] = ()
) -> Iterator[bytes]:
    """Yield the parts of a Parquet file.

    The values of a column are booleans, integers, floats, strings or lists of strings; those of a
    column with values of several types are written as JSON.

    first, last: columns at both ends, also if no row has them
    """
    with requires_extra("parquet", "Parquet needs pyarrow"):
        import pyarrow as pa  # noqa: PLC0415 (an extra, slow to import)
        from pyarrow import parquet  # noqa: PLC0415
    with tempfile.TemporaryFile() as file, tempfile.TemporaryFile() as table:
        stored = _StoredRows(rows, file, first)
        types = {name: _column_type(stored.types[name]) for name in stored.columns(last)}
        schema = pa.schema([(name, _arrow_type(each)) for name, each in types.items()])
        with parquet.ParquetWriter(table, schema) as writer:
            group: list[JsonObject] = []
            for row in stored:
                group.append({name: _value(row.get(name), each) for name, each in types.items()})
                if len(group) == _ROWS_PER_GROUP:
                    writer.write_table(pa.Table.from_pylist(group, schema))
                    group = []
            writer.write_table(pa.Table.from_pylist(group, schema))
        table.seek(0)
        while part := table.read(_COPIED_BYTES):
            yield part


def _column_type(types: set[type]) -> type:
    """Return the type of a column with values of these types; str if they have none in common."""
    found = types - {type(None)}
    if found == {int, float}:
        return float
    return found.pop() if len(found) == 1 and found <= {bool, int, float, str, list} else str


def _arrow_type(column: type) -> Any:
    import pyarrow as pa  # noqa: PLC0415 (an extra)

    if column is list:
        return pa.list_(pa.string())
    return {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}[column]


def _value(value: object, column: type) -> object:
    if value is None:
        return None
    if column is list and isinstance(value, list):
        return [_string(each) for each in value]
    if column is float and isinstance(value, int):
        return float(value)
    return _string(value) if column is str else value


def _string(value: object) -> str:
    return field_text(value).encode(errors="replace").decode()
