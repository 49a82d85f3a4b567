"""Raw text from wherever a user keeps it, streamed: a source may be larger than memory."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from thresher.errors import InputError, WarningHandler, raise_input_error
from thresher.text.formats.conll import parse_conll
from thresher.text.formats.label_studio import text_of_task
from thresher.text.parquet import open_parquet, parquet_records
from thresher.text.records import JsonObject, Record, json_records, jsonl_records, text_field
from thresher.text.sentences import Sentence, segment
from thresher.text.sources import (
    STANDARD_INPUT,
    find_sources,
    format_of,
    open_source,
    spoken_names,
)
from thresher.text.text_blocks import text_blocks


@dataclass(frozen=True, slots=True)
class Document:
    """A text and where it came from.

    source: the file's name, "-" for standard input
    number: its first line in the source, or its row in a Parquet file; from 1
    offset: the characters of the source before it, where a source is cut in blocks
    sentences: given where the source was already split; offsets are into `text`
    """

    text: str
    source: str
    number: int = 1
    offset: int = 0
    sentences: tuple[Sentence, ...] | None = None

    @classmethod
    def from_words(cls, words: Iterable[str], *, source: str, number: int = 1) -> Self:
        """A sentence already split; its text is the words joined by single spaces."""
        sentence = Sentence.from_words(words)
        return cls(" ".join(sentence.texts), source, number, sentences=(sentence,))

    def segmented(self) -> Sequence[Sentence]:
        """The sentences that were given, or else those that `segment` finds."""
        return segment(self.text) if self.sentences is None else self.sentences


def read_texts(
    sources: str | Path | Iterable[str | Path],
    *,
    format: str | None = None,  # noqa: A002
    field: str = "text",
    on_problem: WarningHandler | None = None,
) -> Iterator[Document]:
    """The documents of files, folders, patterns ("corpus/*.txt") and "-" for standard input.

    format: text, jsonl, parquet, conll or label-studio; by default what a file's name says
    field: which field of a JSONL record, or column of a Parquet file, is the text
    on_problem: told, in one line, of each line, record or file that had to be passed over; without
        it the first of them raises `InputError`, as having nothing to read always does
    """
    if format is not None and format not in _READERS:
        raise InputError(f"unknown format {format!r}; choose from {', '.join(sorted(_READERS))}")
    names = find_sources(sources)  # now, so that a missing file is known before work starts
    return _documents(names, format, field, on_problem)


def _documents(
    names: Sequence[str], given: str | None, field: str, on_problem: WarningHandler | None
) -> Iterator[Document]:
    found = False
    for name in names:
        read = _READERS[given or format_of(name)]
        try:
            for document in read(name, field, on_problem or raise_input_error):
                found = True
                yield document
        except InputError as error:
            if on_problem is None or len(names) == 1:
                raise
            on_problem(str(error))
    if not found:
        raise InputError(f"no text in {spoken_names(names)}")


def _read_plain(name: str, _field: str, report: WarningHandler) -> Iterator[Document]:
    offset = 0
    with open_source(name) as stream:
        for text, line in text_blocks(stream, name=name, report=report):
            if not text.isspace():
                yield Document(text, name, line, offset)
            offset += len(text)


def _read_jsonl(name: str, field: str, report: WarningHandler) -> Iterator[Document]:
    with open_source(name) as stream:
        records = jsonl_records(enumerate(stream, 1), name=name, on_problem=report)
        yield from _documents_of(records, text_field, name, field, report)


def _read_label_studio(name: str, field: str, report: WarningHandler) -> Iterator[Document]:
    with open_source(name) as stream:
        records = json_records(stream, name=name, on_problem=report)
        yield from _documents_of(records, text_of_task, name, field, report)


def _read_parquet(name: str, field: str, report: WarningHandler) -> Iterator[Document]:
    if name == STANDARD_INPUT:
        raise InputError("Parquet cannot be read from standard input; name a file")
    with open_source(name) as stream, open_parquet(stream, name=name) as file:
        records = parquet_records(file, field, name=name)
        yield from _documents_of(records, text_field, name, field, report)


def _documents_of(
    records: Iterable[Record],
    get_text: Callable[[JsonObject, str], str],
    name: str,
    field: str,
    report: WarningHandler,
) -> Iterator[Document]:
    for record in records:
        try:
            text = get_text(record.values, field)
        except InputError as error:
            report(f"{record.location}: {error}")
        else:
            yield Document(text, name, record.number)


def _read_conll(name: str, _field: str, report: WarningHandler) -> Iterator[Document]:
    with open_source(name) as stream:
        for sentence in parse_conll(stream, name=name, need_tags=False, on_problem=report):
            yield Document.from_words(sentence.words, source=name, number=sentence.line)


_READERS = {
    "text": _read_plain,
    "jsonl": _read_jsonl,
    "parquet": _read_parquet,
    "conll": _read_conll,
    "label-studio": _read_label_studio,
}
