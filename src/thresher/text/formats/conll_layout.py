"""Detect the columns of words and tags in a CoNLL-like file from its first lines."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from thresher.errors import InputError
from thresher.text.formats.tags import TAG

DOCUMENT = "-DOCSTART-"

_RANGE = re.compile(r"\d+[-.]\d+")


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a line, counted from 0.

    columns: number of columns
    word, tag: columns of the word and its tag; tag is None if the file has only words
    indexed: True if the first column numbers the words of a sentence
    """

    separator: str
    columns: int
    word: int
    tag: int | None
    indexed: bool = False

    def cells(self, line: str) -> list[str]:
        """Split a line into its columns."""
        return _cells(line, self.separator)

    def has_tag(self, cells: Sequence[str]) -> bool:
        """Return True if the column of tags has a valid tag, or the file has no tags."""
        return self.tag is None or (
            len(cells) == self.columns and TAG.fullmatch(cells[self.tag]) is not None
        )

    def is_range(self, cells: Sequence[str]) -> bool:
        """Return True if the row is a multiword range or empty node of CoNLL-U ("3-4", "8.1")."""
        return self.indexed and _is_range(cells)


def detect_layout(lines: Sequence[str], *, name: str = "the file") -> Layout:
    """Return the layout that most of the lines have.

    Of several columns of tags the last one is used, or the first one if words are numbered.
    """
    sentences = _sentences(lines)
    if not sentences:
        raise InputError(f"{name} has no sentences")
    separator = "\t" if any("\t" in line for sentence in sentences for line in sentence) else " "
    cells = [[_cells(line, separator) for line in sentence] for sentence in sentences]
    numbered = all(_is_numbered(sentence) for sentence in cells)
    words = [row for sentence in cells for row in sentence if not (numbered and _is_range(row))]
    columns = Counter(len(row) for row in words).most_common(1)[0][0]
    rows = [row for row in words if len(row) == columns]
    tags = [column for column in range(columns) if _is_tag_column(rows, column)]
    later = [column for column in tags if column > 1]
    if numbered and columns > 1 and (later or 1 not in tags):
        return Layout(separator, columns, word=1, tag=min(later, default=None), indexed=True)
    if tags == [0] and columns > 1:
        return Layout(separator, columns, word=1, tag=0)
    return Layout(separator, columns, word=0, tag=max((c for c in tags if c > 0), default=None))


def _sentences(lines: Sequence[str]) -> list[list[str]]:
    """Group lines by sentence, without lines that may be comments if other lines remain."""
    for comment in ("#", "# "):
        content = [line for line in lines if not line.startswith((comment, DOCUMENT))]
        groups = groupby(content, key=lambda line: not line or line.isspace())
        if found := [list(group) for blank, group in groups if not blank]:
            return found
    return []


def _is_numbered(sentence: Sequence[Sequence[str]]) -> bool:
    """Return True if the first column numbers the words from 0 or 1."""
    numbers = [row[0] for row in sentence if not _is_range(row)]
    return any(numbers == [str(start + i) for i in range(len(numbers))] for start in (0, 1))


def _is_range(row: Sequence[str]) -> bool:
    return _RANGE.fullmatch(row[0]) is not None


def _is_tag_column(rows: Sequence[Sequence[str]], column: int) -> bool:
    return sum(TAG.fullmatch(row[column]) is not None for row in rows) >= 0.9 * len(rows)


def _cells(line: str, separator: str) -> list[str]:
    # Not `line.split()`: a no-break space may be part of a word, or a word.
    cells = line.split(separator)
    return cells if separator == "\t" else [cell for cell in cells if cell]
