"""Extract the text of DOCX files with python-docx, which is an optional dependency."""

import zipfile
from typing import IO

from thresher.errors import InputError
from thresher.text.extraction.extracted_text import ExtractedText

_MAX_UNCOMPRESSED = 1 << 28
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"


def extract_docx(stream: IO[bytes], *, name: str) -> ExtractedText:
    """Return the paragraphs of a document, also those in tables, and title and author as fields."""
    import docx  # noqa: PLC0415 (an extra)
    from docx.opc.exceptions import OpcError  # noqa: PLC0415
    from lxml.etree import LxmlError  # noqa: PLC0415

    try:
        with zipfile.ZipFile(stream) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > _MAX_UNCOMPRESSED:
            raise InputError(
                f"{name} has {size >> 20:,} MiB of uncompressed content; "
                f"at most {_MAX_UNCOMPRESSED >> 20} are read"
            )
        document = docx.Document(stream)
        text = _text(document.element.body)
        properties = document.core_properties
        fields = {"title": properties.title, "author": properties.author}
    except InputError:
        raise
    except (OpcError, LxmlError, zipfile.BadZipFile, ValueError, KeyError, AttributeError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{name} is not a readable DOCX file: {reason[:100]}") from error
    return ExtractedText(text, {key: value for key, value in fields.items() if value})


def _text(body: object) -> str:
    """Return the text of all paragraphs in order.

    The elements are read one by one: the cells of python-docx are repeated for each column that
    they span, and a file can state that there are billions.
    """
    parts: list[str] = []
    for element in body.iter():  # type: ignore[attr-defined]
        if element.tag == f"{_WORD}p":
            parts.append("\n\n")
        elif element.tag == f"{_WORD}t" and not _is_fallback(element):
            parts.append(element.text or "")
        elif element.tag in (f"{_WORD}br", f"{_WORD}cr"):
            parts.append("\n")
        elif element.tag in (f"{_WORD}tab", f"{_WORD}noBreakHyphen"):
            parts.append("-" if element.tag.endswith("Hyphen") else "\t")
    paragraphs = (paragraph.strip() for paragraph in "".join(parts).split("\n\n"))
    return "\n\n".join(filter(None, paragraphs))


def _is_fallback(element: object) -> bool:
    """Return True for the copy of a text box that older programs show."""
    return next(element.iterancestors(_FALLBACK), None) is not None  # type: ignore[attr-defined]
