"""A text, where it was read from, and the other fields of its record."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from thresher.text.choices import TextFormat
from thresher.text.records import JsonObject
from thresher.text.sentences import Sentence, segment
from thresher.text.sources import format_from_name

_PREFIX = "input_"  # of a field whose name the output format uses itself


@dataclass(frozen=True, slots=True)
class Document:
    """A text and where it was read from.

    source: name of the file, "-" for standard input
    number: the text's first line in the source, or its row in a Parquet file; from 1
    offset: number of characters before it, if the source is read in blocks
    sentences: if the source was split into words already; offsets refer to `text`
    fields: the other fields or columns of the record, such as its id
    """

    text: str
    source: str
    number: int = 1
    offset: int = 0
    sentences: tuple[Sentence, ...] | None = None
    fields: JsonObject = field(default_factory=dict, hash=False)

    @classmethod
    def from_words(
        cls,
        words: Iterable[str],
        *,
        source: str,
        number: int = 1,
        fields: JsonObject | None = None,
    ) -> Self:
        """Make a document of one sentence; its text is the words joined by single spaces."""
        sentence = Sentence.from_words(words)
        text = " ".join(sentence.texts)
        return cls(text, source, number, sentences=(sentence,), fields=fields or {})

    def segmented(self) -> Sequence[Sentence]:
        """Return `sentences` if they are given, otherwise those that `segment` finds."""
        return segment(self.text) if self.sentences is None else self.sentences

    def line_of(self, offset: int) -> int:
        """Return the line of a character of the text, or the record's number in other formats."""
        is_plain_text = format_from_name(self.source) == TextFormat.TEXT and not self.fields
        return self.number + (self.text.count("\n", 0, offset) if is_plain_text else 0)

    def about(self, *reserved: str) -> JsonObject:
        """Return source, line and offset, and the fields of the record.

        reserved: names that the output format uses itself; see `with_fields`
        """
        origin = {"source": self.source, "line": self.number, "offset": self.offset}
        return with_fields(origin, self.fields, *reserved)


def with_fields(own: JsonObject, fields: JsonObject, *reserved: str) -> JsonObject:
    """Return a record with further fields; no value is lost or replaced.

    A field whose name is in `own` or reserved gets the prefix `input_`.

    own: the record   reserved: names that the output format uses itself
    """
    taken = {*own, *reserved}
    kept = fields.keys() - taken
    record = dict(own)
    for name, value in fields.items():
        free = name
        while free in taken or (free != name and free in kept):
            free = _PREFIX + free
        record[free] = value
        taken.add(free)
    return record
