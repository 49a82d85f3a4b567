"""Read labelled texts from JSONL, CSV and TSV files; unusable records are reported and skipped."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from thresher.errors import InputError, WarningHandler, raise_input_error
from thresher.text.choices import RecordFormat
from thresher.text.records import JsonObject, Record, missing_field, read_records, split_text
from thresher.text.sources import display_names, find_sources, open_source, record_format_from_name
from thresher.text.streams import require_encoding
from thresher.validation import require_choice

Bounds = tuple[int, int]


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text, its label if a label field was given, and its gold rationale if it has one.

    number: its first line in the source, from 1   gold: spans of characters, end-exclusive
    fields: the other fields of the record, such as its id
    """

    text: str
    source: str
    number: int
    label: str | None = None
    gold: tuple[Bounds, ...] | None = None
    fields: JsonObject = field(default_factory=dict, hash=False)


@dataclass(frozen=True, kw_only=True)
class Fields:
    """The names of the fields of a record. Text and label (if named) must be present."""

    text: str = "text"
    label: str | None = None
    gold: str | None = None

    @property
    def needed(self) -> list[str]:
        """The names of the fields that every record must have."""
        return [name for name in (self.text, self.label) if name is not None]


def read_labelled(
    sources: str | Path | Iterable[str | Path],
    *,
    fields: Fields,
    format: str | None = None,  # noqa: A002
    encoding: str | None = None,
    on_problem: WarningHandler | None = None,
    on_skipped: WarningHandler | None = None,
) -> Iterator[LabelledText]:
    """Read the texts of files, folders, patterns, and "-" for standard input.

    format: jsonl, csv, tsv, or lines (one text per line, without labels); by default it follows
        from a file's name
    encoding: the character encoding; by default UTF-8
    on_problem: called with one line for each record that is skipped; without it the first one
        raises `InputError`. A field that no record of a file has always raises it
    on_skipped: called with one line for each folder that has files of no known format
    """
    if format is not None:
        require_choice("format", format, RecordFormat)
    if encoding is not None:
        encoding = require_encoding(encoding)
    names = find_sources(sources, on_skipped=on_skipped)
    formats = [format or record_format_from_name(name) for name in names]
    if fields.label is not None and "lines" in formats:
        name = names[formats.index("lines")]
        raise InputError(f"{name} has lines without labels; give jsonl, csv or tsv")
    return _texts(names, formats, fields, encoding, on_problem or raise_input_error)


def _texts(
    names: Sequence[str],
    formats: Sequence[str],
    fields: Fields,
    encoding: str | None,
    on_problem: WarningHandler,
) -> Iterator[LabelledText]:
    found = False
    for name, chosen in zip(names, formats, strict=True):
        with open_source(name, encoding=encoding) as stream:
            records = read_records(
                stream, chosen, name=name, on_problem=on_problem, field=fields.text
            )
            for text in _usable_texts(records, name, fields, on_problem):
                found = True
                yield text
    if not found:
        raise InputError(f"no text in {display_names(names)}")


def _usable_texts(
    records: Iterator[Record], name: str, fields: Fields, on_problem: WarningHandler
) -> Iterator[LabelledText]:
    """Yield the records with a valid text; raise InputError for a field that no record has."""
    delayed: list[str] | None = []  # problems with missing fields, until a record has all fields
    first_problem = ""
    for record in records:
        missing = [each for each in fields.needed if each not in record.values]
        if missing:
            problem = missing_field(record.values, missing[0])
            first_problem = first_problem or problem
            message = f"{record.location}: {problem}"
            on_problem(message) if delayed is None else delayed.append(message)
            continue
        for message in delayed or ():
            on_problem(message)
        delayed = None
        try:
            text = _text_of(record.values, fields, name, record.number)
        except InputError as error:
            on_problem(f"{record.location}: {error}")
        else:
            yield text
    if delayed:
        raise InputError(f"{name} has {first_problem}")


def _text_of(record: JsonObject, fields: Fields, name: str, number: int) -> LabelledText:
    text, others = split_text(record, fields.text)
    if not text.strip():
        raise InputError("the text is empty")
    label = None if fields.label is None else _label(record[fields.label], fields.label)
    gold = None
    if fields.gold is not None and record.get(fields.gold) not in (None, ""):
        gold = _gold(record[fields.gold], fields.gold, len(text))
    return LabelledText(text, name, number, label, gold, others)


def _label(value: object, field: str) -> str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 1.0 and 1 are one label
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    if value is None or value == "":
        raise InputError("the label is empty")
    raise InputError(f"field {field!r} is neither a string nor a number")


def _gold(value: Any, field: str, length: int) -> tuple[Bounds, ...]:
    """Parse [[start, end], …] or [{"start": …, "end": …}, …]; in a table, as JSON."""
    try:
        spans = json.loads(value) if isinstance(value, str) else value
        pairs = [
            (each["start"], each["end"]) if isinstance(each, dict) else tuple(each)
            for each in spans
        ]
        bounds = [(start, end) for start, end in pairs]
    except (ValueError, TypeError, KeyError):
        raise InputError(f"field {field!r} is not a list of [start, end]") from None
    for start, end in bounds:
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= length:
            raise InputError(
                f"field {field!r} has {json.dumps([start, end])}; start and end are whole numbers "
                f"with 0 ≤ start < end ≤ {length}, the length of the text"
            )
    return tuple(bounds)
