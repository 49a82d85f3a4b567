"""Read Parquet files with pyarrow, which is an optional dependency."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from thresher.errors import InputError, requires_extra
from thresher.text.records import Record

_BATCH_ROWS = 1024  # rows read into memory at a time


@contextmanager
def open_parquet(stream: IO[bytes], *, name: str) -> Iterator[Any]:
    """Open a stream as a `pyarrow.parquet.ParquetFile`; raise InputError if it is damaged."""
    with requires_extra("parquet", "Parquet needs pyarrow"):
        from pyarrow import ArrowException, parquet  # noqa: PLC0415 (an extra, slow to import)
    try:
        with parquet.ParquetFile(stream) as file:
            yield file
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{name} is not a readable Parquet file: {reason}") from error


def parquet_records(file: Any, column: str, *, name: str) -> Iterator[Record]:
    """Read the rows of an open file, which must have the column."""
    check_column(file, column, name=name)
    rows = (row for batch in parquet_batches(file) for row in batch.to_pylist())
    for number, row in enumerate(rows, 1):
        yield Record(row, number, f"{name} row {number}")


def check_column(file: Any, column: str, *, name: str) -> None:
    """Raise InputError if an open file has no such column."""
    columns = file.schema_arrow.names
    if column not in columns:
        raise InputError(f"{name} has no column {column!r}; it has {', '.join(columns)}")


def parquet_batches(file: Any, start: int = 0, end: int | None = None) -> Iterator[Any]:
    """Yield rows `start` to `end` (exclusive; None: to the last) as pyarrow RecordBatches.

    Row groups outside of this range are not read.
    """
    metadata = file.metadata
    end = metadata.num_rows if end is None else end
    groups: list[int] = []
    first_row = row = 0  # the first row of the groups that are read, and of the current group
    for group in range(metadata.num_row_groups):
        rows = metadata.row_group(group).num_rows
        if row < end and row + rows > start:
            first_row = first_row if groups else row
            groups.append(group)
        row += rows
    row = first_row
    for batch in file.iter_batches(batch_size=_BATCH_ROWS, row_groups=groups):
        low, high = max(start - row, 0), min(end - row, batch.num_rows)
        row += batch.num_rows
        if low < high:
            yield batch.slice(low, high - low)
        if row >= end:
            return
