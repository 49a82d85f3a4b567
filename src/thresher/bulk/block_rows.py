"""The rows of a block with their own columns, and the same with what was found in them."""

import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BufferedReader, BytesIO
from typing import Any

from thresher.bulk.blocks import Block
from thresher.bulk.filesystems import opened_for_reading
from thresher.errors import InputError
from thresher.text.annotations import Span
from thresher.text.parquet import check_column, open_parquet, parquet_batches
from thresher.text.records import jsonl_records, line_records

SPANS = "spans"

Found = list[list[Span] | None]


@dataclass
class Rows:
    """The rows of a block.

    columns: a pyarrow table, or a list of records
    texts: one for each row; None where it has none   places: where each row is, for messages
    problems: of rows without a text, and of what is no row at all
    """

    columns: Any
    texts: list[str | None]
    places: list[str]
    problems: list[str] = field(default_factory=list)

    def to_parquet(self, found: Found) -> bytes:
        """A Parquet file of the rows and a column of what was found in each.

        Records need not have the same fields, but what they have in a field must be of one type.
        """
        import pyarrow as pa  # noqa: PLC0415 (an extra)
        from pyarrow import parquet  # noqa: PLC0415 (an extra)

        span = pa.struct(
            [("start", pa.int64()), ("end", pa.int64()), ("text", pa.string()), ("score", "f8")]
        )
        spans = pa.array([_plain(each) for each in found], pa.list_(span))
        file = BytesIO()
        try:
            table = _table(self.columns) if isinstance(self.columns, list) else self.columns
            if SPANS in table.column_names:
                table = table.drop_columns([SPANS])
            parquet.write_table(table.append_column(SPANS, spans), file)
        except (pa.ArrowException, OverflowError) as error:
            raise InputError(
                f"{self.places[0]} and what follows cannot be Parquet: {error}; "
                "any records can be JSONL"
            ) from error
        return file.getvalue()

    def to_jsonl(self, found: Found) -> bytes:
        """A line for each row: its columns, and what was found in it."""
        records = self.columns if isinstance(self.columns, list) else self.columns.to_pylist()
        lines = (
            json.dumps({**record, SPANS: _plain(spans)}, ensure_ascii=False, default=str)
            for record, spans in zip(records, found, strict=True)
        )
        return "".join(f"{line}\n" for line in lines).encode(errors="replace")


def _table(records: list[dict[str, Any]]) -> Any:
    """A pyarrow table of all the fields that any of the records has."""
    import pyarrow as pa  # noqa: PLC0415 (an extra)

    names = dict.fromkeys(name for record in records for name in record)
    return pa.table({name: [record.get(name) for record in records] for name in names})


def _plain(spans: list[Span] | None) -> list[dict[str, Any]] | None:
    if spans is None:
        return None
    return [{"start": s.start, "end": s.end, "text": s.text, "score": s.score} for s in spans]


def read_rows(block: Block, *, text: str) -> Rows:
    """The rows of a block; `text` is the field or column that holds the text."""
    if block.form == "parquet":
        return _read_parquet(block, text)
    return (_read_jsonl if block.form == "jsonl" else _read_lines)(block, text)


def _read_parquet(block: Block, text: str) -> Rows:
    import pyarrow as pa  # noqa: PLC0415 (an extra)

    start, end = block.start, block.end or 0
    name = block.source
    with opened_for_reading(name) as stream, open_parquet(stream, name=name) as file:
        check_column(file, text, name=name)
        batches = parquet_batches(file, start, end)
        table = pa.Table.from_batches(list(batches), file.schema_arrow)
    values = table.column(text).to_pylist()
    return _checked(
        table,
        values,
        [f"{name} row {number}" for number in range(start + 1, end + 1)],
        f"column {text!r} is not a string",
    )


def _read_jsonl(block: Block, text: str) -> Rows:
    problems: list[str] = []
    lines = ((offset, _without_lone_surrogates(line)) for offset, line in _lines(block))
    records = list(jsonl_records(lines, name=block.source, unit="byte", on_problem=problems.append))
    rows = _checked(
        [record.values for record in records],
        [record.values.get(text) for record in records],
        [record.location for record in records],
        f"field {text!r} is missing or not a string",
    )
    rows.problems[:0] = problems
    return rows


def _without_lone_surrogates(line: bytes) -> bytes:
    """Replace escaped lone surrogates, which no file can contain, by question marks."""
    if b"\\ud" not in line.lower():
        return line
    try:
        return json.dumps(json.loads(line), ensure_ascii=False).encode(errors="replace")
    except (ValueError, RecursionError):
        return line  # the reader of records reports it


def _read_lines(block: Block, _text: str) -> Rows:
    problems: list[str] = []
    records = list(
        line_records(
            _lines(block),
            field="text",
            name=block.source,
            unit="byte",
            on_problem=problems.append,
            replace_invalid=True,
        )
    )
    texts = [record.values["text"] for record in records]
    columns = [
        {"source": block.source, "byte": record.number, "text": text}
        for record, text in zip(records, texts, strict=True)
    ]
    return Rows(columns, texts, [record.location for record in records], problems)


def _checked(columns: Any, values: Sequence[Any], places: list[str], rule: str) -> Rows:
    texts = [value if isinstance(value, str) else None for value in values]
    problems = [
        f"{place}: {rule}" for place, each in zip(places, texts, strict=True) if each is None
    ]
    return Rows(columns, texts, places, problems)


def _lines(block: Block) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that begin in the block, each with the offset of its first byte."""
    with opened_for_reading(block.source) as file:
        stream = BufferedReader(gzip.GzipFile(fileobj=file) if block.end is None else file)
        try:
            yield from _lines_from(stream, block.start, block.end)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"cannot read {block.source}: {error}") from error


def _lines_from(stream: BufferedReader, start: int, end: int | None) -> Iterator[tuple[int, bytes]]:
    at = start
    if at:
        stream.seek(at - 1)
        at += len(stream.readline()) - 1  # the rest of a line that began before, or its end
    while end is None or at < end:
        if not (line := stream.readline()):
            return
        yield at, line
        at += len(line)
