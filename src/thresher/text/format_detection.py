"""Detect the format of a file from its name and its first bytes."""

import csv
import io
import json
import re
from itertools import dropwhile

from thresher.errors import InputError
from thresher.text.choices import TextFormat
from thresher.text.formats.conll_layout import DOCUMENT, detect_layout
from thresher.text.sources import STANDARD_INPUT, display_name, format_from_name, format_of_suffix

_FORMAT_MAGIC = {b"%PDF-": TextFormat.PDF, b"PAR1": TextFormat.PARQUET}
_OTHER_MAGIC = {
    b"PK\x03\x04": "a ZIP archive",
    b"\xd0\xcf\x11\xe0": "a file of an old Office version",
    b"{\\rtf": "RTF",
    b"7z\xbc\xaf": "a 7z archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"(\xb5/\xfd": "a Zstandard archive",
}
_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,2000}?-->\s*){0,3}"
    rb"<(?:!doctype\s+html|html|head|body)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_HEADER = re.compile(rb"[A-Za-z][A-Za-z0-9-]*:[ \t]|[ \t]+\S")
_MAIL_HEADER = re.compile(rb"^(?:message-id|mime-version|received):", re.IGNORECASE | re.MULTILINE)
_ENVELOPE = re.compile(rb"From \S+ .*\d{4}")


def detect_format(sample: bytes, *, name: str, field: str) -> TextFormat:
    """Return the format of a file; raise InputError if it is unknown.

    Formats with a signature are recognised by it, other formats by the suffix. If the suffix is
    missing, or that of plain text, or unknown, the content decides whether it is HTML, e-mail or
    JSON. Text of an unknown suffix is refused.

    sample: the first bytes, decompressed   field: the field of a record that contains the text
    """
    sample = sample.removeprefix(b"\xef\xbb\xbf")
    named = format_of_suffix(name)
    if signed := _signed_format(sample, named, name):
        return signed
    if named == TextFormat.TSV:
        return detect_tsv_format(sample, field=field, name=name)
    if named not in (None, TextFormat.TEXT):
        return named
    return _text_format(sample, field) or format_from_name(name)


def _signed_format(sample: bytes, named: TextFormat | None, name: str) -> TextFormat | None:
    for magic, text_format in _FORMAT_MAGIC.items():
        if sample.startswith(magic):
            if name == STANDARD_INPUT and text_format == TextFormat.PARQUET:
                raise InputError("Parquet cannot be read from standard input; name a file")
            return text_format
    if sample.startswith(b"PK\x03\x04") and (b"word/" in sample or named == TextFormat.DOCX):
        return TextFormat.DOCX
    for magic, kind in _OTHER_MAGIC.items():
        if sample.startswith(magic) and named != TextFormat.PARQUET:
            raise InputError(f"cannot read {display_name(name)}: it is {kind}")
    return None


def _text_format(sample: bytes, field: str) -> TextFormat | None:
    """Return the format that the beginning of a text shows; None for plain text."""
    if _HTML.match(sample):
        return TextFormat.HTML
    first, _, rest = sample.lstrip().partition(b"\n")
    if _ENVELOPE.match(first) and _HEADER.match(rest):
        return TextFormat.MBOX
    if first.startswith((b"{", b"[")):
        return _json_format(sample, field)
    head = re.split(rb"\r?\n\r?\n", sample, maxsplit=1)[0]
    if _MAIL_HEADER.search(head) and all(map(_HEADER.match, head.splitlines())):
        return TextFormat.EMAIL
    return None


def _json_format(sample: bytes, field: str) -> TextFormat | None:
    text = sample.decode(errors="ignore").lstrip().removeprefix("[").lstrip()
    try:
        first, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(first, dict):
        return None
    if isinstance(first.get("data"), dict) and field in first["data"]:
        return TextFormat.LABEL_STUDIO
    return TextFormat.JSONL if isinstance(first.get(field), str) else None


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
