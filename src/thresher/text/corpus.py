"""Read texts from files of several formats, one at a time: files may be larger than memory."""

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, cast

from thresher.errors import InputError, WarningHandler, raise_input_error
from thresher.text.choices import TextFormat
from thresher.text.document import Document
from thresher.text.formats.conll import parse_conll
from thresher.text.formats.label_studio import split_task
from thresher.text.formats.tsv_detection import SAMPLE_BYTES, detect_tsv_format
from thresher.text.parquet import open_parquet, parquet_records
from thresher.text.records import (
    JsonObject,
    Record,
    json_records,
    jsonl_records,
    split_text,
    table_records,
)
from thresher.text.sources import (
    STANDARD_INPUT,
    display_names,
    find_sources,
    format_from_name,
    open_source,
)
from thresher.text.text_blocks import read_text_blocks
from thresher.validation import require_choice


def read_texts(
    sources: str | Path | Iterable[str | Path],
    *,
    format: str | None = None,  # noqa: A002
    field: str = "text",
    on_problem: WarningHandler | None = None,
    on_skipped: WarningHandler | None = None,
) -> Iterator[Document]:
    """Read the documents of files, folders, patterns ("corpus/*.txt") and "-" (standard input).

    format: one of `TextFormat`; by default it follows from a file's name; the content
        of a file named .tsv decides whether it is a table or CoNLL
    field: the field of a JSONL record, or column of a table, that contains the text
    on_problem: called with one line of text for each line, record or file that is skipped; without
        it the first of them raises `InputError`. If there is no text at all, `InputError` is raised
        in any case.
    on_skipped: called with one line for each folder that has files of no known format
    """
    if format is not None:
        require_choice("format", format, TextFormat)
    # Not in the generator: a missing file is reported at once.
    names = find_sources(sources, on_skipped=on_skipped)
    return _read_documents(names, format, field, on_problem)


def _read_documents(
    names: Sequence[str], text_format: str | None, field: str, on_problem: WarningHandler | None
) -> Iterator[Document]:
    found = False
    for name in names:
        read = _READERS[TextFormat(text_format)] if text_format else _default_reader(name)
        try:
            for document in read(name, field, on_problem or raise_input_error):
                found = True
                yield document
        except InputError as error:
            if on_problem is None or len(names) == 1:
                raise
            on_problem(str(error))
    if not found:
        raise InputError(f"no text in {display_names(names)}")


def _default_reader(name: str) -> "_Reader":
    text_format = format_from_name(name)
    return _read_tsv_or_conll if text_format == TextFormat.TSV else _READERS[text_format]


def _read_plain(name: str, _field: str, on_problem: WarningHandler) -> Iterator[Document]:
    offset = 0
    with open_source(name) as stream:
        for text, line in read_text_blocks(stream, name=name, on_problem=on_problem):
            if not text.isspace():
                yield Document(text, name, line, offset)
            offset += len(text)


def _read_jsonl(name: str, field: str, on_problem: WarningHandler) -> Iterator[Document]:
    with open_source(name) as stream:
        records = jsonl_records(enumerate(stream, 1), name=name, on_problem=on_problem)
        yield from _documents_of(records, split_text, name, field, on_problem)


def _read_label_studio(name: str, field: str, on_problem: WarningHandler) -> Iterator[Document]:
    with open_source(name) as stream:
        records = json_records(stream, name=name, on_problem=on_problem)
        yield from _documents_of(records, split_task, name, field, on_problem)


def _read_csv(name: str, field: str, on_problem: WarningHandler) -> Iterator[Document]:
    with open_source(name) as stream:
        yield from _table_documents(stream, ",", name, field, on_problem)


def _read_tsv(name: str, field: str, on_problem: WarningHandler) -> Iterator[Document]:
    with open_source(name) as stream:
        yield from _table_documents(stream, "\t", name, field, on_problem)


def _table_documents(
    stream: IO[bytes], delimiter: str, name: str, field: str, on_problem: WarningHandler
) -> Iterator[Document]:
    records = table_records(stream, delimiter, name=name, on_problem=on_problem)
    for first in records:
        if field not in first.values:
            columns = ", ".join(first.values)
            raise InputError(f"{name} has no column {field!r}; it has {columns}")
        yield from _documents_of(chain([first], records), split_text, name, field, on_problem)


def _read_tsv_or_conll(name: str, field: str, on_problem: WarningHandler) -> Iterator[Document]:
    with open_source(name) as stream:
        # The sample stays in the buffer: a pipe cannot be opened twice.
        buffered = io.BufferedReader(cast(io.RawIOBase, stream), SAMPLE_BYTES)
        sample = buffered.peek(SAMPLE_BYTES)
        if detect_tsv_format(sample, field=field, name=name) == TextFormat.TSV:
            yield from _table_documents(buffered, "\t", name, field, on_problem)
        else:
            yield from _conll_documents(buffered, name, on_problem)


def _read_parquet(name: str, field: str, on_problem: WarningHandler) -> Iterator[Document]:
    if name == STANDARD_INPUT:
        raise InputError("Parquet cannot be read from standard input; name a file")
    with open_source(name) as stream, open_parquet(stream, name=name) as file:
        records = parquet_records(file, field, name=name)
        yield from _documents_of(records, split_text, name, field, on_problem)


def _documents_of(
    records: Iterable[Record],
    split: Callable[[JsonObject, str], tuple[str, JsonObject]],
    name: str,
    field: str,
    on_problem: WarningHandler,
) -> Iterator[Document]:
    for record in records:
        try:
            text, fields = split(record.values, field)
        except InputError as error:
            on_problem(f"{record.location}: {error}")
        else:
            yield Document(text, name, record.number, fields=fields)


def _read_conll(name: str, _field: str, on_problem: WarningHandler) -> Iterator[Document]:
    with open_source(name) as stream:
        yield from _conll_documents(stream, name, on_problem)


def _conll_documents(
    stream: IO[bytes], name: str, on_problem: WarningHandler
) -> Iterator[Document]:
    for sentence in parse_conll(stream, name=name, need_tags=False, on_problem=on_problem):
        yield Document.from_words(
            sentence.words, source=name, number=sentence.line, fields=dict(sentence.comments)
        )


_Reader = Callable[[str, str, WarningHandler], Iterator[Document]]
_READERS: dict[TextFormat, _Reader] = {
    TextFormat.TEXT: _read_plain,
    TextFormat.JSONL: _read_jsonl,
    TextFormat.CSV: _read_csv,
    TextFormat.TSV: _read_tsv,
    TextFormat.PARQUET: _read_parquet,
    TextFormat.CONLL: _read_conll,
    TextFormat.LABEL_STUDIO: _read_label_studio,
}
