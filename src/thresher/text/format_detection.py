"""Detect the format of a file from its name and its first bytes."""

import json
import re

from thresher.errors import InputError
from thresher.text.choices import TextFormat
from thresher.text.formats.tsv_detection import detect_tsv_format
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
