"""Extract the text of PDF files with pypdf, which is an optional dependency."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import IO

from thresher.errors import InputError
from thresher.text.extraction.extracted_text import ExtractedText

_HYPHEN = re.compile(r"(?<=\w)-\n(?=[a-z])")
_DIGITS = re.compile(r"\d+")
_MIN_PAGES = 3  # from which on repeated first and last lines are headers and footers


def extract_pdf(stream: IO[bytes], *, name: str) -> ExtractedText:
    """Return the text of all pages, and title and author as fields."""
    from pypdf import PdfReader  # noqa: PLC0415 (an extra)
    from pypdf.errors import PyPdfError  # noqa: PLC0415

    try:
        reader = PdfReader(stream)
        if reader.is_encrypted and not reader.decrypt(""):
            raise InputError(f"{name} is an encrypted PDF file; save it without a password")
        pages = [page.extract_text() for page in reader.pages]
        metadata: Mapping[str, object] = reader.metadata or {}
    except InputError:
        raise
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{name} is not a readable PDF file: {reason[:100]}") from error
    fields = {field: str(metadata.get(f"/{field.title()}") or "") for field in ("title", "author")}
    return ExtractedText(join_pages(pages), {key: value for key, value in fields.items() if value})


def join_pages(pages: Sequence[str]) -> str:
    """Return the text of pages without headers, footers, page numbers and hyphens at line ends.

    A paragraph that continues on the next page stays one paragraph.
    """
    bodies = [_HYPHEN.sub("", page) for page in _without_repeated_lines(pages)]
    text = ""
    for body in filter(None, bodies):
        if text:
            continues = text[-1] not in ".!?:\"'”’)" and body[0].islower()
            text += "\n" if continues else "\n\n"
        text += body
    return text


def _without_repeated_lines(pages: Sequence[str]) -> list[str]:
    lines = [[line.strip() for line in page.strip().splitlines()] for page in pages]
    edges = Counter(
        pattern for page in lines for pattern in {_DIGITS.sub("#", line) for line in _edges(page)}
    )
    for page in lines:
        for edge in (0, -1):
            repeated = page and edges[_DIGITS.sub("#", page[edge])] > len(lines) / 2
            if page and (page[edge].isdecimal() or (repeated and len(lines) >= _MIN_PAGES)):
                del page[edge]
    return ["\n".join(page).strip() for page in lines]


def _edges(page: list[str]) -> list[str]:
    return [page[0], page[-1]] if page else []
