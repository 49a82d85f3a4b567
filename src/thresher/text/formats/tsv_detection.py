"""Decide from the content whether a file named .tsv is a table or a CoNLL file."""

import csv
import io
from itertools import dropwhile

from thresher.errors import InputError
from thresher.text.choices import TextFormat
from thresher.text.formats.conll_layout import DOCUMENT, detect_layout


def detect_tsv_format(sample: bytes, *, field: str, name: str) -> TextFormat:
    """Return `TSV` or `CONLL` for the first bytes of a file; raise InputError if it is unclear.

    A table has a header with the text column and no blank lines. A CoNLL file has tags, or blank
    lines between sentences and either one column or numbered words.

    field: the name of the text column   name: of the file, for messages
    """
    lines = _lines(sample)
    content = [line for line in lines if line.strip() and not line.startswith(("#", DOCUMENT))]
    if not content:
        return TextFormat.CONLL  # its reader reports that there are no sentences
    layout = detect_layout(lines, name=name)
    rows = _rows(lines)
    has_blank_rows = not all(rows)
    is_table = field in rows[0]
    has_tags = layout.tag is not None
    is_conll = (has_tags and layout.has_tag(layout.cells(content[0]))) or (
        has_blank_rows and (has_tags or layout.indexed or layout.columns == 1)
    )
    if is_table == is_conll or (is_table and (has_tags or has_blank_rows)):
        reason = (
            f"it has a column {field!r}, but also tags or blank lines"
            if is_table
            else f"its first row has no column {field!r}, and no column has tags"
        )
        raise InputError(
            f"cannot tell whether {name} is a table or CoNLL: {reason}; choose `format=tsv` "
            "(with `field` for the text column) or `format=conll`"
        )
    return TextFormat.TSV if is_table else TextFormat.CONLL


def _lines(sample: bytes) -> list[str]:
    """Return the complete lines of the sample, or its only line; without the byte order mark."""
    text = sample.decode("utf-8-sig", errors="replace")
    lines = io.StringIO(text, newline=None).read().split("\n")
    return lines[:-1] or lines


def _rows(lines: list[str]) -> list[list[str]]:
    """Return the rows of the lines, without blank rows at both ends; a row is empty if blank."""
    kept = (f"{line}\n" for line in lines)
    try:
        rows = list(csv.reader(kept, delimiter="\t", strict=True))
    except csv.Error:  # a quotation mark that is a word, or a cell that the sample cuts
        rows = [line.split("\t") if line else [] for line in lines]
    rows = [row if any(cell.strip() for cell in row) else [] for row in rows]
    for _ in range(2):
        rows = list(dropwhile(lambda row: not row, rows))[::-1]
    return rows
