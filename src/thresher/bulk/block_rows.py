"""Read the rows of a block with all their columns, and write them with the spans found."""

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import BufferedReader, BytesIO
from typing import IO, Any

from thresher.bulk.blocks import WHOLE_FORMATS, Block
from thresher.bulk.filesystems import open_file
from thresher.errors import InputError
from thresher.text.annotations import Span
from thresher.text.choices import TextFormat
from thresher.text.document import with_fields
from thresher.text.formats.jsonl import span_object
from thresher.text.parquet import check_column, open_parquet, parquet_batches
from thresher.text.readers import Source, read_documents
from thresher.text.records import jsonl_records, line_records, to_json_line
from thresher.text.streams import require_encoding

SPANS = "spans"  # the column that is added
_READ_SIZE = 1 << 20  # bytes read at a time to complete the last line of a block

Lines = Iterator[tuple[int, bytes]]  # with the offset of the first byte of each
SpansOfRows = list[list[Span] | None]  # None for a row without a text


@dataclass
class Rows:
    """The rows of a block.

    columns: a pyarrow table, or a list of records
    texts: the text of each row; None if it has none
    locations: where each row was found, for messages
    problems: one line for each row without a text and for each line that is not a row
    """

    columns: Any
    texts: list[str | None]
    locations: list[str]
    problems: list[str] = field(default_factory=list)

    def to_parquet(self, spans_of_rows: SpansOfRows, *, with_kinds: bool = False) -> bytes:
        """Return a Parquet file of the rows with a column of spans.

        Records may have different fields, but the values of a field must have one type.

        with_kinds: spans have the fields kind and kind_score, which may be null
        """
        import pyarrow as pa  # noqa: PLC0415 (an extra)
        from pyarrow import parquet  # noqa: PLC0415 (an extra)

        span = [("start", pa.int64()), ("end", pa.int64()), ("text", pa.string()), ("score", "f8")]
        span += [("kind", pa.string()), ("kind_score", "f8")] if with_kinds else []
        spans = pa.array([_to_json(each) for each in spans_of_rows], pa.list_(pa.struct(span)))
        file = BytesIO()
        try:
            table = _table(self.columns) if isinstance(self.columns, list) else self.columns
            names = [*with_fields({}, dict.fromkeys(table.column_names), SPANS)]
            table = table.rename_columns(names)
            parquet.write_table(table.append_column(SPANS, spans), file)
        except (pa.ArrowException, OverflowError) as error:
            raise InputError(
                f"the rows from {self.locations[0]} on cannot be written as Parquet: {error}; "
                "JSONL allows any records"
            ) from error
        return file.getvalue()

    def to_jsonl(self, spans_of_rows: SpansOfRows) -> bytes:
        """Return a JSONL file with the columns and spans of each row."""
        records = self.columns if isinstance(self.columns, list) else self.columns.to_pylist()
        lines = (
            to_json_line({**with_fields({}, record, SPANS), SPANS: _to_json(spans)})
            for record, spans in zip(records, spans_of_rows, strict=True)
        )
        return "".join(lines).encode()


def _table(records: list[dict[str, Any]]) -> Any:
    """Return a pyarrow table of all fields that occur in the records."""
    import pyarrow as pa  # noqa: PLC0415 (an extra)

    names = dict.fromkeys(name for record in records for name in record)
    return pa.table({name: [record.get(name) for record in records] for name in names})


def _to_json(spans: list[Span] | None) -> list[dict[str, Any]] | None:
    return None if spans is None else list(map(span_object, spans))


def require_splittable(encoding: str) -> str:
    """Return the name of an encoding; InputError unless its lines end in one byte, as in UTF-8."""
    name = require_encoding(encoding)
    if "\n".encode(name) != b"\n":
        raise InputError(f"files in `encoding` {encoding} cannot be split into blocks of lines")
    return name


def read_rows(block: Block, *, text_field: str, encoding: str | None = None) -> Rows:
    """Read the rows of a block.

    text_field: the field or column that contains the text; lines of text have none
    encoding: that of text files; None for UTF-8, or what a web page states
    """
    if block.format == "parquet":
        return _read_parquet(block, text_field)
    if block.format in WHOLE_FORMATS:
        return _read_file(block, encoding)
    lines = _lines(block) if encoding is None else _decoded(_lines(block), encoding, block)
    return (
        _read_jsonl(block, lines, text_field)
        if block.format == "jsonl"
        else _read_lines(block, lines)
    )


def _read_parquet(block: Block, column: str) -> Rows:
    import pyarrow as pa  # noqa: PLC0415 (an extra)

    start, end = block.start, block.end or 0
    name = block.source
    with open_file(name) as stream, open_parquet(stream, name=name) as file:
        check_column(file, column, name=name)
        batches = parquet_batches(file, start, end)
        table = pa.Table.from_batches(list(batches), file.schema_arrow)
    return _rows(
        table,
        table.column(column).to_pylist(),
        [f"{name} row {number}" for number in range(start + 1, end + 1)],
        f"column {column!r} is not a string",
    )


def _read_file(block: Block, encoding: str | None) -> Rows:
    """Read a page, message, PDF or DOCX file; its fields are columns."""
    problems: list[str] = []
    with open_file(block.source) as file:
        content = gzip.GzipFile(fileobj=file) if block.source.endswith(".gz") else file
        stream: Any = BufferedReader(content)
        source = Source(stream, block.source, "text", encoding, problems.append)
        documents = list(read_documents(source, TextFormat(block.format)))
    columns = [each.about("text") | {"text": each.text} for each in documents]
    texts: list[str | None] = [each.text for each in documents]
    return Rows(columns, texts, [block.source] * len(documents), problems)


def _read_jsonl(block: Block, raw: Lines, text_field: str) -> Rows:
    problems: list[str] = []
    lines = ((offset, _without_lone_surrogates(line)) for offset, line in raw)
    records = list(jsonl_records(lines, name=block.source, unit="byte", on_problem=problems.append))
    rows = _rows(
        [record.values for record in records],
        [record.values.get(text_field) for record in records],
        [record.location for record in records],
        f"field {text_field!r} is missing or not a string",
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


def _read_lines(block: Block, lines: Lines) -> Rows:
    problems: list[str] = []
    records = list(
        line_records(
            lines,
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


def _rows(columns: Any, values: Sequence[Any], locations: list[str], problem: str) -> Rows:
    """Return rows whose texts are those values that are strings; report the others."""
    texts = [value if isinstance(value, str) else None for value in values]
    problems = [
        f"{location}: {problem}"
        for location, text in zip(locations, texts, strict=True)
        if text is None
    ]
    return Rows(columns, texts, locations, problems)


def _decoded(lines: Lines, encoding: str, block: Block) -> Lines:
    """Yield the lines in UTF-8."""
    for offset, line in lines:
        try:
            yield offset, line.decode(encoding).encode()
        except UnicodeError as error:
            raise InputError(f"{block.source} is not {encoding} text: {error}") from error


def _lines(block: Block) -> Lines:
    """Yield the lines that begin in the block, each with the offset of its first byte."""
    with open_file(block.source) as file:
        try:
            if block.end is None:
                yield from _with_offsets(gzip.GzipFile(fileobj=file), 0)
            else:
                yield from _lines_between(file, block.start, block.end)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"cannot read {block.source}: {error}") from error


def _lines_between(file: IO[bytes], start: int, end: int) -> Iterator[tuple[int, bytes]]:
    first = max(start - 1, 0)  # if this byte ends a line, the next line begins in the block
    file.seek(first)
    content = bytearray(file.read(end - first))
    if start and b"\n" not in content:
        return  # the block lies within one line
    while content and not content.endswith(b"\n") and (more := file.read(_READ_SIZE)):
        line_end = more.find(b"\n") + 1
        content += more[: line_end or len(more)]
    lines = BytesIO(content)
    skipped = len(lines.readline()) if start else 0
    yield from _with_offsets(lines, first + skipped)


def _with_offsets(lines: Iterable[bytes], offset: int) -> Iterator[tuple[int, bytes]]:
    for line in lines:
        yield offset, line
        offset += len(line)
