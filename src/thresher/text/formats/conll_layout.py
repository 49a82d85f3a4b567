"""Where the word and its tag stand in a CoNLL-like line, read off the first lines of a file."""

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
    """Where things are in a line; columns count from 0.

    tag: None where a file has words alone
    indexed: the first column numbers the words of a sentence
    """

    separator: str
    columns: int
    word: int
    tag: int | None
    indexed: bool = False

    def cells(self, line: str) -> list[str]:
        """The columns of a line."""
        return _cells(line, self.separator)

    def has_tag(self, cells: Sequence[str]) -> bool:
        """Whether these columns have a tag where it belongs, or none is expected."""
        return self.tag is None or (
            len(cells) == self.columns and TAG.fullmatch(cells[self.tag]) is not None
        )

    def is_range(self, cells: Sequence[str]) -> bool:
        """Whether this is no word of its own, but CoNLL-U's "3-4" or "8.1"."""
        return self.indexed and _is_range(cells)


def detect_layout(lines: Sequence[str], *, name: str = "the file") -> Layout:
    """The layout that most of the lines agree on.

    Of several columns of tags the last one counts, or the first one where words are numbered.
    """
    sentences = _sentences(lines)
    if not sentences:
        raise InputError(f"{name} holds no sentences")
    separator = "\t" if any("\t" in line for sentence in sentences for line in sentence) else " "
    cells = [[_cells(line, separator) for line in sentence] for sentence in sentences]
    numbered = all(_is_numbered(sentence) for sentence in cells)
    words = [row for sentence in cells for row in sentence if not (numbered and _is_range(row))]
    columns = Counter(len(row) for row in words).most_common(1)[0][0]
    rows = [row for row in words if len(row) == columns]
    tags = [column for column in range(columns) if _mostly_tags(rows, column)]
    later = [column for column in tags if column > 1]
    if numbered and columns > 1 and (later or 1 not in tags):
        return Layout(separator, columns, word=1, tag=min(later, default=None), indexed=True)
    if tags == [0] and columns > 1:
        return Layout(separator, columns, word=1, tag=0)
    return Layout(separator, columns, word=0, tag=max((c for c in tags if c > 0), default=None))


def _sentences(lines: Sequence[str]) -> list[list[str]]:
    """Lines by sentence, leaving out all that may be comments, unless nothing else is there."""
    for comment in ("#", "# "):
        content = [line for line in lines if not line.startswith((comment, DOCUMENT))]
        groups = groupby(content, key=lambda line: not line or line.isspace())
        if found := [list(group) for blank, group in groups if not blank]:
            return found
    return []


def _is_numbered(sentence: Sequence[Sequence[str]]) -> bool:
    """Whether the first column numbers the words, from 0 or from 1."""
    numbers = [row[0] for row in sentence if not _is_range(row)]
    return any(numbers == [str(start + i) for i in range(len(numbers))] for start in (0, 1))


def _is_range(row: Sequence[str]) -> bool:
    return _RANGE.fullmatch(row[0]) is not None


def _mostly_tags(rows: Sequence[Sequence[str]], column: int) -> bool:
    return sum(TAG.fullmatch(row[column]) is not None for row in rows) >= 0.9 * len(rows)


def _cells(line: str, separator: str) -> list[str]:
    # Not `line.split()`: a no-break space may be part of a word, or one.
    cells = line.split(separator)
    return cells if separator == "\t" else [cell for cell in cells if cell]
