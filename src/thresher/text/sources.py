"""Find and open the files that a user names: files, folders, patterns, standard input, gzip."""

import io
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, cast

from thresher.errors import (
    InputError,
    WarningHandler,
    did_you_mean,
    os_errors_as_input_errors,
)
from thresher.text.choices import RecordFormat, TextFormat
from thresher.text.streams import MAGIC, BoundedGzipFile, as_utf8

STANDARD_INPUT = "-"
BUFFER_BYTES = 1 << 17  # also of the sample from which formats are detected

FORMAT_SUFFIXES = {
    TextFormat.TEXT: (".txt", ".text", ".rst"),
    TextFormat.JSONL: (".jsonl", ".ndjson"),
    TextFormat.PARQUET: (".parquet",),
    TextFormat.CSV: (".csv",),
    TextFormat.TSV: (".tsv",),
    TextFormat.CONLL: (".conll", ".iob", ".iob2", ".bio"),
    TextFormat.HTML: (".html", ".htm", ".xhtml"),
    TextFormat.MARKDOWN: (".md", ".markdown"),
    TextFormat.EMAIL: (".eml",),
    TextFormat.MBOX: (".mbox",),
    TextFormat.PDF: (".pdf",),
    TextFormat.DOCX: (".docx",),
}
_TEXT_FORMATS = {
    suffix: text_format for text_format, suffixes in FORMAT_SUFFIXES.items() for suffix in suffixes
}
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://")
_UNSPACED_MARKS = frozenset("。，、！？；：「」『』《》។ฯ")
_RECORD_FORMATS = {
    ".jsonl": RecordFormat.JSONL,
    ".ndjson": RecordFormat.JSONL,
    ".csv": RecordFormat.CSV,
    ".tsv": RecordFormat.TSV,
    ".txt": RecordFormat.LINES,
}


def format_of_suffix(name: str) -> TextFormat | None:
    """Return the format for a file name's suffix; None if there is none or it is unknown."""
    return _TEXT_FORMATS.get(_suffix(Path(name)))


def format_from_name(name: str) -> TextFormat:
    """Return the format for a file name's suffix; plain text without a suffix.

    `detect_format` also looks at the content.
    """
    text_format = format_of_suffix(name)
    if text_format is None and (suffix := _suffix(Path(name))):
        raise InputError(
            f"cannot tell the format of {name}: {suffix} is not a known suffix; choose one with "
            "`format`, for example `format=text`"
        )
    return text_format or TextFormat.TEXT


def record_format_from_name(name: str) -> RecordFormat:
    """Return the record format for a file name's suffix; JSONL for standard input."""
    if name == STANDARD_INPUT:
        return RecordFormat.JSONL
    suffix = _suffix(Path(name))
    if suffix not in _RECORD_FORMATS:
        known = ", ".join(_RECORD_FORMATS)
        raise InputError(
            f"cannot tell the format of {name} by its name ({known}); choose one with `format`"
        )
    return _RECORD_FORMATS[suffix]


def display_name(name: str) -> str:
    """Return a source's name for messages: "standard input" for "-"."""
    return "standard input" if name == STANDARD_INPUT else name


def display_names(names: Sequence[str]) -> str:
    """Return the name of the first source and the number of the others, for messages."""
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return display_name(names[0]) + more


def find_sources(
    sources: str | Path | Iterable[str | Path], *, on_skipped: WarningHandler | None = None
) -> list[str]:
    """Return the file names for names of files, folders (with subfolders), patterns or "-".

    on_skipped: called with one line for each folder that has files of no known format
    """
    given = [sources] if isinstance(sources, str | Path) else sources
    names: list[str] = []
    for source in map(str, given):
        with os_errors_as_input_errors(f"cannot read {source[:60]!r}"):  # such as a name too long
            names += _matching_files(source, on_skipped)
    if not names:
        raise InputError("no files were given")
    return list(dict.fromkeys(names))


def _matching_files(source: str, on_skipped: WarningHandler | None) -> list[str]:
    path = Path(source)
    if not source:
        raise InputError("no such file: ''")
    if source == STANDARD_INPUT:
        return [source]
    if path.is_dir():
        return _files_in(path, on_skipped)
    if path.exists():
        return [source]
    if path.is_symlink():
        raise InputError(f"{source} is a link to {path.readlink()}, which does not exist")
    if _ADDRESS.match(source):
        raise InputError(f"{source} is an address; only thresher find --engine ray reads addresses")
    if not any(wildcard in source for wildcard in "*?["):
        hint = did_you_mean(path.name, (file.name for file in path.parent.glob("[!.]*")))
        raise InputError(f"no such file: {source}{hint}")
    matches = Path(path.anchor).glob(str(path.relative_to(path.anchor)))
    if not (names := sorted(str(file) for file in matches if file.is_file())):
        raise InputError(f"no file matches {source}")
    return names


def is_text_argument(argument: str) -> bool:
    """Return True if an argument is a text itself, and not the name of a file that is missing.

    A text has white space, or punctuation of a script without spaces, "東京です。". A name can have
    some, too: it exists, or its folder does, or it begins or ends like a path.
    """
    if not any(each.isspace() or each in _UNSPACED_MARKS for each in argument.strip()):
        return False
    path = Path(argument)
    looks_like_path = argument.startswith(("/", "./", "../", "~")) or (
        _suffix(path) in (*_TEXT_FORMATS, *_RECORD_FORMATS)
    )
    try:
        return not (
            looks_like_path or path.exists() or (path.parent != Path() and path.parent.is_dir())
        )
    except (OSError, ValueError):  # too long for a name, or a NUL character
        return True


def _files_in(folder: Path, on_skipped: WarningHandler | None) -> list[str]:
    """Return all files of a known format below a folder, except hidden ones."""
    files = [
        str(file)
        for file in sorted(folder.rglob("*"))
        if file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    ]
    names = select_known_formats(files, folder=str(folder), on_skipped=on_skipped)
    if not names:
        suffixes = ", ".join(sorted(_TEXT_FORMATS))
        raise InputError(f"no text in folder {folder}: looked for {suffixes}")
    return names


def select_known_formats(
    files: Iterable[str], *, folder: str, on_skipped: WarningHandler | None
) -> list[str]:
    """Return those files of a folder whose names have the suffix of a known format.

    on_skipped: called with one line that counts the other files by suffix, if there are any
    """
    names: list[str] = []
    skipped: Counter[str] = Counter()
    for file in files:
        suffix = _suffix(Path(file))
        if suffix in _TEXT_FORMATS:
            names.append(file)
        else:
            skipped[suffix or "without a suffix"] += 1
    if names and skipped and on_skipped is not None:
        kinds = ", ".join(f"{count:,} {suffix}" for suffix, count in skipped.most_common())
        files_skipped = "1 file" if skipped.total() == 1 else f"{skipped.total():,} files"
        on_skipped(f"skipped {files_skipped} of no known format in {folder}: {kinds}")
    return names


def _suffix(path: Path) -> str:
    """Return the suffix in lower case, without .gz."""
    return (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()


@contextmanager
def open_source(name: str | Path, *, encoding: str | None = None) -> Iterator[Any]:
    """Open a file, or standard input for "-", as an `io.BufferedReader`; decompress gzip.

    encoding: the character encoding of a text, which is converted to UTF-8
    """
    with os_errors_as_input_errors(f"cannot read {name}"):
        try:
            with _open(str(name)) as stream:
                # The first bytes stay in the buffer: a pipe cannot be read twice.
                buffered = io.BufferedReader(stream, BUFFER_BYTES)
                if str(name).endswith(".gz") or buffered.peek(len(MAGIC)).startswith(MAGIC):
                    content = cast(io.RawIOBase, BoundedGzipFile(buffered, str(name)))
                    buffered = io.BufferedReader(content, BUFFER_BYTES)
                yield buffered if encoding is None else as_utf8(buffered, encoding, name=str(name))
        except (EOFError, zlib.error) as error:  # damaged gzip
            raise InputError(f"cannot read {name}: {error}") from error


def _open(name: str) -> AbstractContextManager[io.RawIOBase]:
    if name != STANDARD_INPUT:
        return Path(name).open("rb", buffering=0)
    if sys.stdin is None:  # the parent process closed it
        raise InputError("cannot read standard input: it is closed")
    return _StandardInput(sys.stdin.buffer)


class _StandardInput(io.RawIOBase):
    """Standard input as a stream that can be closed without closing standard input."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return int(self._stream.readinto1(buffer))
