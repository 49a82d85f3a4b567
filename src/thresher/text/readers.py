"""Read the documents of an open file in any of the formats."""

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from thresher.errors import InputError, WarningHandler
from thresher.text.choices import TextFormat
from thresher.text.document import Document
from thresher.text.extraction.extracted_text import MAX_BYTES, ExtractedText
from thresher.text.formats.conll import parse_conll
from thresher.text.formats.label_studio import split_task
from thresher.text.parquet import open_parquet, parquet_records
from thresher.text.records import JsonObject, Record, json_records, split_text, table_records
from thresher.text.streams import as_utf8
from thresher.text.text_blocks import read_text_blocks

# Divides a record into its text, given the name of the field, and its other fields.
SplitRecord = Callable[[JsonObject, str], tuple[str, JsonObject]]

# The bytes of these formats are not text in one encoding, or state their encoding themselves.
_BINARY = (TextFormat.PARQUET, TextFormat.PDF, TextFormat.DOCX, TextFormat.EMAIL, TextFormat.MBOX)


@dataclass(frozen=True)
class Source:
    """An open file and how to read it.

    field: the field of a record, or column of a table, that contains the text
    encoding: None for UTF-8, or what a web page states
    """

    stream: io.BufferedReader
    name: str
    field: str
    encoding: str | None
    on_problem: WarningHandler


def read_documents(source: Source, text_format: TextFormat) -> Iterator[Document]:
    """Read the documents of a file in a format."""
    if source.encoding is not None and text_format not in (*_BINARY, TextFormat.HTML):
        stream = as_utf8(source.stream, source.encoding, name=source.name)
        source = replace(source, stream=stream)
    return _READERS[text_format](source)


def _read_plain(source: Source) -> Iterator[Document]:
    blocks = read_text_blocks(source.stream, name=source.name, on_problem=source.on_problem)
    return _block_documents(blocks, source.name)


def _block_documents(
    blocks: Iterable[tuple[str, int]], name: str, fields: JsonObject | None = None
) -> Iterator[Document]:
    offset = 0
    for text, line in blocks:
        if not text.isspace():
            yield Document(text, name, line, offset, fields=fields or {})
        offset += len(text)


def _read_json(source: Source, *, split: SplitRecord) -> Iterator[Document]:
    records = json_records(source.stream, name=source.name, on_problem=source.on_problem)
    return _record_documents(records, source, split)


def _read_table(source: Source, *, delimiter: str) -> Iterator[Document]:
    name, field = source.name, source.field
    records = table_records(source.stream, delimiter, name=name, on_problem=source.on_problem)
    for first in records:
        if field not in first.values:
            columns = ", ".join(first.values)
            raise InputError(f"{name} has no column {field!r}; it has {columns}")
        yield from _record_documents(chain([first], records), source, split_text)


def _read_parquet(source: Source) -> Iterator[Document]:
    with open_parquet(source.stream, name=source.name) as file:
        records = parquet_records(file, source.field, name=source.name)
        yield from _record_documents(records, source, split_text)


def _record_documents(
    records: Iterable[Record], source: Source, split: SplitRecord
) -> Iterator[Document]:
    for record in records:
        try:
            text, fields = split(record.values, source.field)
        except InputError as error:
            source.on_problem(f"{record.location}: {error}")
        else:
            yield Document(text, source.name, record.number, fields=fields)


def _read_conll(source: Source) -> Iterator[Document]:
    name = source.name
    sentences = parse_conll(source.stream, name=name, need_tags=False, on_problem=source.on_problem)
    for each in sentences:
        fields = dict(each.comments)
        yield Document.from_words(each.words, source=name, number=each.line, fields=fields)


def _read_html(source: Source) -> Iterator[Document]:
    from thresher.text.extraction.html import decode_html, extract_html  # noqa: PLC0415

    page = decode_html(
        _read_whole(source),
        name=source.name,
        encoding=source.encoding,
        on_problem=source.on_problem,
    )
    return _extracted_documents(extract_html(page), source)


def _read_markdown(source: Source) -> Iterator[Document]:
    from thresher.text.extraction.markdown import extract_markdown  # noqa: PLC0415

    stream = io.BytesIO(_read_whole(source))
    blocks = read_text_blocks(stream, name=source.name, on_problem=source.on_problem)
    text = "".join(block for block, _ in blocks)
    return _extracted_documents(extract_markdown(text), source)


def _read_email(source: Source) -> Iterator[Document]:
    from thresher.text.extraction.mail import extract_message  # noqa: PLC0415

    return _extracted_documents(extract_message(_read_whole(source), name=source.name), source)


def _read_mailbox(source: Source) -> Iterator[Document]:
    from thresher.text.extraction.mail import mailbox_messages  # noqa: PLC0415

    for each in mailbox_messages(source.stream, name=source.name, on_problem=source.on_problem):
        yield from _extracted_documents(each, source)


def _read_in_child(source: Source, *, text_format: TextFormat) -> Iterator[Document]:
    from thresher.text.extraction.isolated import extract_in_child  # noqa: PLC0415

    extracted = extract_in_child(source.stream, text_format, name=source.name)
    return _extracted_documents(extracted, source)


def _read_whole(source: Source) -> bytes:
    data = source.stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise InputError(f"{source.name} is larger than {MAX_BYTES >> 20} MiB; split it")
    return data


def _extracted_documents(extracted: ExtractedText, source: Source) -> Iterator[Document]:
    """Yield an extracted text in blocks of limited size; their offsets refer to the whole text."""
    stream = io.BytesIO(extracted.text.encode(errors="replace"))
    blocks = read_text_blocks(stream, name=source.name, on_problem=source.on_problem)
    number = extracted.number
    numbered = ((text, number) for text, _ in blocks)
    return _block_documents(numbered, source.name, extracted.fields)


_READERS: dict[TextFormat, Callable[[Source], Iterator[Document]]] = {
    TextFormat.TEXT: _read_plain,
    TextFormat.JSONL: partial(_read_json, split=split_text),
    TextFormat.LABEL_STUDIO: partial(_read_json, split=split_task),
    TextFormat.CSV: partial(_read_table, delimiter=","),
    TextFormat.TSV: partial(_read_table, delimiter="\t"),
    TextFormat.PARQUET: _read_parquet,
    TextFormat.CONLL: _read_conll,
    TextFormat.HTML: _read_html,
    TextFormat.MARKDOWN: _read_markdown,
    TextFormat.EMAIL: _read_email,
    TextFormat.MBOX: _read_mailbox,
    TextFormat.PDF: partial(_read_in_child, text_format=TextFormat.PDF),
    TextFormat.DOCX: partial(_read_in_child, text_format=TextFormat.DOCX),
}
