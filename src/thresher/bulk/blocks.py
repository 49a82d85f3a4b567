"""Split files into blocks of rows; each block is processed and completed on its own.

A row is a line of a text file, a record of a JSONL file or a row of a Parquet file. A line belongs
to the block that contains its first byte, so a file is split without reading it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from thresher.bulk.filesystems import file_size, open_file
from thresher.errors import InputError
from thresher.text.parquet import open_parquet
from thresher.text.sources import format_from_name

SPLIT_FORMATS = ("text", "jsonl", "parquet")
WHOLE_FORMATS = ("html", "markdown", "email", "pdf", "docx")  # each file is one block
MAX_BLOCK_BYTES = 2 << 20  # uncompressed
MAX_BLOCK_ROWS = 20_000  # of Parquet


@dataclass(frozen=True)
class Block:
    """Consecutive rows of a file that are read and processed together.

    start, end: rows of a Parquet file, bytes of any other file; `end` is None for a file that is
        one block: compressed, or a page, message, PDF or DOCX file
    """

    number: int
    source: str
    format: str
    start: int
    end: int | None

    def to_json(self) -> dict[str, Any]:
        """Return the fields with their names in plan.json."""
        return {
            "number": self.number,
            "source": self.source,
            "form": self.format,
            "start": self.start,
            "end": self.end,
        }


def plan_blocks(sources: Iterable[str], *, format: str | None = None) -> list[Block]:  # noqa: A002
    """Return the blocks of all files, in order.

    format: that of all files; by default it follows from each file's name
    """
    bounds = [(source, *each) for source in sources for each in _split(source, format)]
    return [Block(number, *each) for number, each in enumerate(bounds)]


def _split(source: str, given_format: str | None) -> Iterator[tuple[str, int, int | None]]:
    file_format = given_format or format_from_name(source)
    if file_format not in SPLIT_FORMATS + WHOLE_FORMATS:
        raise InputError(
            f"{source} has the format {file_format}; only {', '.join(SPLIT_FORMATS)} can be split "
            "into blocks"
        )
    if file_format == "parquet":
        size, step = _parquet_rows(source)
    elif source.endswith(".gz") or file_format in WHOLE_FORMATS:
        yield file_format, 0, None
        return
    else:
        size, step = file_size(source), MAX_BLOCK_BYTES
    yield from ((file_format, low, min(low + step, size)) for low in range(0, size, step))


def _parquet_rows(source: str) -> tuple[int, int]:
    """Return the number of rows, and how many of them make a block."""
    with open_file(source) as stream, open_parquet(stream, name=source) as file:
        metadata = file.metadata
        rows = metadata.num_rows
        size = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
        return rows, max(1, min(MAX_BLOCK_ROWS, MAX_BLOCK_BYTES * rows // max(size, 1)))
