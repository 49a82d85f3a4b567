"""Files cut into blocks of rows: what one process does at a time, and what is done or is not.

A row is a line of a text, a record of a JSONL file or a row of a Parquet file. A line belongs to
the block in which its first byte lies, so a file is cut without being read.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from thresher.bulk.filesystems import opened_for_reading, size_of
from thresher.errors import InputError
from thresher.text.parquet import open_parquet
from thresher.text.sources import format_from_name

FORMS = ("text", "jsonl", "parquet")
BYTES = 2 << 20  # of a block, at most; of Parquet, unpacked
ROWS = 20_000  # of a block of Parquet, at most


@dataclass(frozen=True)
class Block:
    """Rows of a file that are read, and found in, together.

    start, end: rows of a Parquet file; bytes of another, `end` None if it is packed and so whole
    """

    number: int
    source: str
    form: str
    start: int
    end: int | None


def planned(sources: Iterable[str], *, form: str | None = None) -> list[Block]:
    """The blocks of all files, in order."""
    bounds = [(source, *each) for source in sources for each in _cut(source, form)]
    return [Block(number, *each) for number, each in enumerate(bounds)]


def _cut(source: str, given: str | None) -> Iterator[tuple[str, int, int | None]]:
    form = given or format_from_name(source)
    if form not in FORMS:
        raise InputError(f"{source} is {form}; blocks are made of {', '.join(FORMS)}")
    if form == "parquet":
        rows, together = _parquet_rows(source)
        yield from ((form, low, min(low + together, rows)) for low in range(0, rows, together))
    elif source.endswith(".gz"):
        yield form, 0, None
    else:
        size = size_of(source)
        yield from ((form, low, min(low + BYTES, size)) for low in range(0, size, BYTES))


def _parquet_rows(source: str) -> tuple[int, int]:
    """How many rows there are, and how many of them make a block."""
    with opened_for_reading(source) as stream, open_parquet(stream, name=source) as file:
        about = file.metadata
        size = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        return about.num_rows, max(1, min(ROWS, BYTES * about.num_rows // max(size, 1)))
