"""The text of a document that is not plain text, and what else is known of it."""

from dataclasses import dataclass, field

from thresher.text.records import JsonObject

MAX_BYTES = 1 << 25  # of a page, message or Markdown file, which is parsed as a whole


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """A text whose blocks are separated by blank lines.

    fields: for example title or subject
    number: the first line of the document in its file, if there are several
    """

    text: str
    fields: JsonObject = field(default_factory=dict)
    number: int = 1
