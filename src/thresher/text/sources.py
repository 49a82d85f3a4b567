"""Which files a user means, and their bytes: files, folders, patterns, standard input, gzip."""

import gzip
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, cast

from thresher.errors import InputError, did_you_mean
from thresher.text.choices import RecordFormat

STANDARD_INPUT = "-"

SUFFIXES = {
    "text": (".txt", ".text", ".md", ".rst"),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet",),
    "conll": (".conll", ".iob", ".iob2", ".bio", ".tsv"),
}
_FORMAT_OF = {suffix: name for name, suffixes in SUFFIXES.items() for suffix in suffixes}
_RECORD_FORMATS = {
    ".jsonl": RecordFormat.JSONL,
    ".ndjson": RecordFormat.JSONL,
    ".csv": RecordFormat.CSV,
    ".tsv": RecordFormat.TSV,
    ".txt": RecordFormat.LINES,
}


def format_of(name: str) -> str:
    """The format that a file's name stands for; plain text where it says nothing."""
    return _FORMAT_OF.get(_suffix(Path(name)), "text")


def record_format(name: str) -> RecordFormat:
    """Return the record format that a file's name stands for; JSONL for standard input."""
    if name == STANDARD_INPUT:
        return RecordFormat.JSONL
    suffix = _suffix(Path(name))
    if suffix not in _RECORD_FORMATS:
        known = ", ".join(_RECORD_FORMATS)
        raise InputError(
            f"cannot tell the format of {name} by its name ({known}); choose one with `format`"
        )
    return _RECORD_FORMATS[suffix]


def spoken_name(name: str) -> str:
    """What to call a source when a user is told of it."""
    return "standard input" if name == STANDARD_INPUT else name


def spoken_names(names: Sequence[str]) -> str:
    """The same for several: the first, and how many there are besides."""
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return spoken_name(names[0]) + more


def find_sources(sources: str | Path | Iterable[str | Path]) -> list[str]:
    """The files meant by names of files, folders (searched to the bottom), patterns or "-"."""
    given = [sources] if isinstance(sources, str | Path) else sources
    names: list[str] = []
    for source in map(str, given):
        try:
            names += _meant_by(source)
        except OSError as error:  # a name too long to be one, a folder that may not be read
            raise InputError(f"cannot read {source[:60]!r}: {error.strerror}") from error
    if not names:
        raise InputError("no files were given")
    return list(dict.fromkeys(names))


def _meant_by(source: str) -> list[str]:
    path = Path(source)
    if not source:
        raise InputError("no such file: ''")
    if source == STANDARD_INPUT:
        return [source]
    if path.is_dir():
        return _texts_in(path)
    if path.exists():
        return [source]
    if not any(mark in source for mark in "*?["):
        hint = did_you_mean(path.name, (file.name for file in path.parent.glob("*")))
        raise InputError(f"no such file: {source}{hint}")
    found = Path(path.anchor).glob(str(path.relative_to(path.anchor)))
    if not (names := sorted(str(file) for file in found if file.is_file())):
        raise InputError(f"no file matches {source}")
    return names


def _texts_in(folder: Path) -> list[str]:
    names = [
        str(file)
        for file in sorted(folder.rglob("*"))
        if _suffix(file) in _FORMAT_OF
        and file.is_file()
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    ]
    if not names:
        raise InputError(f"no text in folder {folder}: looked for {', '.join(sorted(_FORMAT_OF))}")
    return names


def _suffix(path: Path) -> str:
    return (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()


@contextmanager
def open_source(name: str | Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked if its name ends in .gz; of standard input for "-"."""
    try:
        with _opened(str(name)) as stream:
            yield stream
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read {name}: {reason}") from error


def _opened(name: str) -> AbstractContextManager[IO[bytes]]:
    if name == STANDARD_INPUT:
        if sys.stdin is None:  # closed by whoever started the program
            raise InputError("cannot read standard input: it is closed")
        return nullcontext(sys.stdin.buffer)
    if name.endswith(".gz"):
        return cast(IO[bytes], gzip.open(name))
    return Path(name).open("rb")
