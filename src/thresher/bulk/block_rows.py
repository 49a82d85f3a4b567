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

SPANS = "spans"
_UNKNOWN = "\ufffd"

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
    from pyarrow import parquet  # noqa: PLC0415 (an extra)

    start, end = block.start, block.end or 0
    try:
        with opened_for_reading(block.source) as stream, parquet.ParquetFile(stream) as file:
            names = file.schema_arrow.names
            if text not in names:
                raise InputError(
                    f"{block.source} has no column {text!r}; it has {', '.join(names)}"
                )
            table = pa.Table.from_batches(list(_batches(file, start, end)), file.schema_arrow)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{block.source} rows {start + 1} to {end}: {error}") from error
    values = table.column(text).to_pylist()
    return _checked(
        table,
        values,
        [f"{block.source} row {number}" for number in range(start + 1, end + 1)],
        f"column {text!r} is not a string",
    )


def _batches(file: Any, start: int, end: int) -> Iterator[Any]:
    """Rows start to end, in pieces; row groups before and after are not read."""
    about, groups, at = file.metadata, [], 0
    first = None
    for group in range(about.num_row_groups):
        rows = about.row_group(group).num_rows
        if at < end and at + rows > start:
            first = at if first is None else first
            groups.append(group)
        at += rows
    at = first or 0
    for batch in file.iter_batches(batch_size=1024, row_groups=groups):
        low, high = max(start - at, 0), min(end - at, batch.num_rows)
        at += batch.num_rows
        if low < high:
            yield batch.slice(low, high - low)
        if at >= end:
            return


def _read_jsonl(block: Block, text: str) -> Rows:
    records: list[dict[str, Any]] = []
    places: list[str] = []
    problems: list[str] = []
    for place, line in _lines(block):
        try:
            records.append(_record(line))
        except (ValueError, RecursionError) as error:
            problems.append(f"{place}: not a JSON record: {error}")
        else:
            places.append(place)
    values = [record.get(text) for record in records]
    rows = _checked(records, values, places, f"field {text!r} is missing or not a string")
    rows.problems[:0] = problems
    return rows


def _record(line: bytes) -> dict[str, Any]:
    record: Any = json.loads(line.decode("utf-8-sig"))
    if not isinstance(record, dict):
        raise ValueError("not an object")
    if b"\\ud" in line.lower():  # it may be half a surrogate pair, which no file could hold
        return dict(json.loads(json.dumps(record, ensure_ascii=False).encode(errors="replace")))
    return record


def _read_lines(block: Block, _text: str) -> Rows:
    records: list[dict[str, Any]] = []
    places: list[str] = []
    problems: list[str] = []
    for place, line in _lines(block):
        text = line.decode("utf-8-sig", errors="replace").rstrip("\r\n")
        if _UNKNOWN in text and _UNKNOWN.encode() not in line:
            problems.append(f"{place}: not valid UTF-8; its bad bytes are read as U+FFFD")
        records.append(
            {"source": block.source, "byte": int(place.rpartition(" ")[2]), "text": text}
        )
        places.append(place)
    return Rows(records, [each["text"] for each in records], places, problems)


def _checked(columns: Any, values: Sequence[Any], places: list[str], rule: str) -> Rows:
    texts = [value if isinstance(value, str) else None for value in values]
    problems = [
        f"{place}: {rule}" for place, each in zip(places, texts, strict=True) if each is None
    ]
    return Rows(columns, texts, places, problems)


def _lines(block: Block) -> Iterator[tuple[str, bytes]]:
    """The lines that begin in the block, each with its place; those with white space alone not."""
    with opened_for_reading(block.source) as file:
        stream = BufferedReader(gzip.GzipFile(fileobj=file) if block.end is None else file)
        try:
            for at, line in _lines_from(stream, block.start, block.end):
                if line.strip():
                    yield f"{block.source} byte {at}", line
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
