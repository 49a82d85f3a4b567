"""Write the table of entities: on a terminal, or in a format for programs."""

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from thresher.cli.entities.highlight import printable
from thresher.cli.output import open_output, render
from thresher.text.formats.tables import to_csv, to_parquet
from thresher.text.records import JsonObject, to_json_line

if TYPE_CHECKING:
    from thresher.entities.tables.counting import EntityRow, EntityTable

SPELLINGS_SEPARATOR = " | "  # in a cell of a CSV or TSV table
_WIDE, _VERY_WIDE = 100, 140  # characters of a terminal that shows more columns
_SHOWN = 50  # rows on a terminal, if `top` is not given


class TableFormat(StrEnum):
    """The formats that `thresher entities` writes."""

    TERMINAL = "terminal"
    CSV = "csv"
    TSV = "tsv"
    JSONL = "jsonl"
    PARQUET = "parquet"


def write_table(
    table: "EntityTable", output: Path | None, output_format: str, top: int | None
) -> None:
    """Write the `top` most frequent entities, or all, to a file or to standard output."""
    rows = table.rows(top)
    with open_output(output) as write:
        if output_format == TableFormat.TERMINAL:
            shown = rows if top is not None or output is not None else rows[:_SHOWN]
            write(f"{render(_terminal_table(shown, width=Console().width))}\n")
            if len(shown) < len(table):
                write(f"{len(shown):,} of {len(table):,} entities\n")
            return
        for piece in _pieces(rows, output_format):
            write(piece)


def _pieces(rows: Sequence["EntityRow"], output_format: str) -> Iterator[str] | Iterator[bytes]:
    """Yield the pieces of the table in a format for programs."""
    columns = "entity kind mentions documents first_mention spellings example score".split()
    values = [row.as_json() for row in rows]
    if output_format == TableFormat.JSONL:
        return map(to_json_line, values)
    if output_format == TableFormat.PARQUET:
        return to_parquet(values, first=columns)
    delimiter = "\t" if output_format == TableFormat.TSV else ","
    return to_csv(map(_with_joined_spellings, values), first=columns, delimiter=delimiter)


def _with_joined_spellings(row: JsonObject) -> JsonObject:
    return row | {"spellings": SPELLINGS_SEPARATOR.join(row["spellings"])}


def _terminal_table(rows: Sequence["EntityRow"], *, width: int) -> Table:
    """Return the table for a terminal; first mentions and examples are shown if they fit.

    width: the width of the terminal, in characters
    """
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    columns: dict[str, Callable[[EntityRow], str]] = {"entity": lambda row: row.entity}
    if any(row.kind is not None for row in rows):
        columns["kind"] = lambda row: row.kind or "–"
    columns["mentions"] = lambda row: f"{row.mentions:,}"
    columns["documents"] = lambda row: f"{row.documents:,}"
    columns["score"] = lambda row: f"{row.score:.2f}"
    columns["other spellings"] = _other_spellings
    if width >= _WIDE:
        columns["first mention"] = lambda row: Path(row.first_mention).name
    if width >= _VERY_WIDE:
        columns["example"] = lambda row: row.example
    for name in columns:
        table.add_column(name, no_wrap=True, overflow="ellipsis", **_column_layout(name))
    for row in rows:
        table.add_row(*(Text(printable(cell(row))) for cell in columns.values()))
    return table


def _column_layout(name: str) -> dict[str, Any]:
    """Return arguments of `Table.add_column`."""
    if name == "entity":
        return {"min_width": 16, "max_width": 40}
    if name in ("mentions", "documents", "score"):
        return {"min_width": len(name), "justify": "right"}
    if name in ("other spellings", "first mention", "example"):
        return {"min_width": len(name), "ratio": 1}
    return {}


def _other_spellings(row: "EntityRow") -> str:
    return SPELLINGS_SEPARATOR.join(each for each in row.spellings if each != row.entity)
