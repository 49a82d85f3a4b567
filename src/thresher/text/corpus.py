"""Read texts from files of several formats, one at a time: files may be larger than memory."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from thresher.errors import InputError, WarningHandler, raise_input_error
from thresher.text.choices import TextFormat
from thresher.text.document import Document
from thresher.text.format_detection import detect_format
from thresher.text.readers import Source, read_documents
from thresher.text.sources import (
    BUFFER_BYTES,
    STANDARD_INPUT,
    display_names,
    find_sources,
    open_source,
)
from thresher.text.streams import require_encoding
from thresher.validation import require_choice


def read_texts(
    sources: str | Path | Iterable[str | Path],
    *,
    format: str | None = None,  # noqa: A002
    field: str = "text",
    encoding: str | None = None,
    on_problem: WarningHandler | None = None,
    on_skipped: WarningHandler | None = None,
) -> Iterator[Document]:
    """Read the documents of files, folders, patterns ("corpus/*.txt") and "-" (standard input).

    format: one of `TextFormat`; by default it follows from the name and the content of a file
    field: the field of a JSONL record, or column of a table, that contains the text
    encoding: the character encoding of text files; by default UTF-8, or what a web page states
    on_problem: called with one line of text for each line, record or file that is skipped; without
        it the first of them raises `InputError`. If there is no text at all, `InputError` is raised
        in any case.
    on_skipped: called with one line for each folder that has files of no known format
    """
    if format is not None:
        require_choice("format", format, TextFormat)
    if encoding is not None:
        encoding = require_encoding(encoding)
    # Not in the generator: a missing file is reported at once.
    names = find_sources(sources, on_skipped=on_skipped)
    return _read_all(names, format, field, encoding, on_problem)


def _read_all(
    names: Sequence[str],
    text_format: str | None,
    field: str,
    encoding: str | None,
    on_problem: WarningHandler | None,
) -> Iterator[Document]:
    found = False
    for name in names:
        try:
            if name == STANDARD_INPUT and text_format == TextFormat.PARQUET:
                raise InputError("Parquet cannot be read from standard input; name a file")
            with open_source(name) as stream:
                source = Source(stream, name, field, encoding, on_problem or raise_input_error)
                for document in read_documents(source, _format(source, text_format)):
                    found = True
                    yield document
        except InputError as error:
            if on_problem is None or len(names) == 1:
                raise
            on_problem(str(error))
    if not found:
        raise InputError(f"no text in {display_names(names)}")


def _format(source: Source, given: str | None) -> TextFormat:
    if given is not None:
        return TextFormat(given)
    sample = source.stream.peek(BUFFER_BYTES)
    if source.encoding is not None:  # a format is recognised by ASCII characters
        sample = sample.decode(source.encoding, errors="ignore").encode(errors="ignore")
    return detect_format(sample, name=source.name, field=source.field)
