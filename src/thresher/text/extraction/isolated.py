"""Read PDF and DOCX files in a child process with limited memory and time.

Their libraries need much time and memory for some hostile or damaged files. The child receives the
file on standard input and prints JSON: the text and its fields, or an error.
"""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from typing import IO

from thresher.errors import InputError, requires_extra
from thresher.text.choices import TextFormat
from thresher.text.extraction.docx import extract_docx
from thresher.text.extraction.extracted_text import ExtractedText
from thresher.text.extraction.pdf import extract_pdf

MAX_BYTES = 1 << 28
MAX_MEMORY = 1 << 31
SECONDS = 60.0  # and one for each MiB
# The module that reads a format, and the package that it comes from.
_LIBRARIES = {TextFormat.PDF: ("pypdf", "pypdf"), TextFormat.DOCX: ("docx", "python-docx")}
_EXTRACTORS: dict[str, Callable[..., ExtractedText]] = {
    TextFormat.PDF: extract_pdf,
    TextFormat.DOCX: extract_docx,
}


def extract_in_child(stream: IO[bytes], text_format: TextFormat, *, name: str) -> ExtractedText:
    """Return the text of a PDF or DOCX file; InputError if it needs too much time or memory."""
    module, package = _LIBRARIES[text_format]
    with requires_extra(text_format, f"{text_format.upper()} files need {package}"):
        import_module(module)
    data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise InputError(f"{name} is larger than {MAX_BYTES >> 20} MiB; split it")
    seconds = SECONDS + len(data) / (1 << 20)
    try:
        child = subprocess.run(
            [sys.executable, "-m", __name__, text_format, name],
            input=data,
            capture_output=True,
            timeout=seconds,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            check=False,
        )
        result = json.loads(child.stdout)
    except subprocess.TimeoutExpired as error:
        raise InputError(f"{name} takes longer than {seconds:.0f} s to read") from error
    except ValueError as error:  # the child died before it could print
        kind = text_format.upper()
        raise InputError(f"{name} is not a readable {kind} file: its reader failed") from error
    if "error" in result:
        raise InputError(result["error"])
    return ExtractedText(result["text"], result["fields"])


def _main(text_format: str, name: str) -> None:
    try:
        _limit_memory()
        stream = io.BytesIO(sys.stdin.buffer.read())
        extracted = _EXTRACTORS[text_format](stream, name=name)
        result = {"text": extracted.text, "fields": extracted.fields}
    except InputError as error:
        result = {"error": str(error)}
    except MemoryError:
        result = {"error": f"{name} needs more than {MAX_MEMORY >> 30} GiB of memory to read"}
    except RecursionError:
        result = {"error": f"{name} is nested too deeply"}
    except Exception as error:  # damaged files cause errors of many kinds
        kind = text_format.upper()
        result = {"error": f"{name} is not a readable {kind} file: {type(error).__name__}"}
    sys.stdout.write(json.dumps(result))


def _limit_memory() -> None:
    try:
        import resource  # noqa: PLC0415 (not on Windows)
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))


if __name__ == "__main__":
    _main(*sys.argv[1:])
