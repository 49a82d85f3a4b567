"""Read texts that were annotated in Prodigy, doccano or Label Studio."""

from collections.abc import Callable, Iterator
from pathlib import Path

from thresher.errors import InputError, WarningHandler, raise_input_error
from thresher.text.choices import GoldFormat
from thresher.text.formats.doccano import from_doccano
from thresher.text.formats.label_studio import from_label_studio
from thresher.text.formats.prodigy import from_prodigy
from thresher.text.records import json_records
from thresher.text.sources import open_source
from thresher.text.tagged_text import TaggedText
from thresher.validation import require_choice

TOOLS: dict[str, Callable[..., TaggedText | None]] = {
    GoldFormat.PRODIGY: from_prodigy,
    GoldFormat.DOCCANO: from_doccano,
    GoldFormat.LABEL_STUDIO: from_label_studio,
}


def read_annotated(
    path: str | Path,
    *,
    format: str,  # noqa: A002
    field: str = "text",
    encoding: str | None = None,
    on_problem: WarningHandler | None = None,
) -> Iterator[TaggedText]:
    """Read the texts of a file with their annotated spans; texts without annotation are skipped.

    format: prodigy, doccano or label-studio
    field: the field that contains the text
    encoding: the character encoding; by default UTF-8
    on_problem: called with one line of text for each record that is skipped because it cannot be
        read; without it the first one raises InputError
    """
    require_choice("format", format, TOOLS)
    on_problem = on_problem or raise_input_error
    with open_source(path, encoding=encoding) as stream:
        for record in json_records(stream, name=str(path), on_problem=on_problem):
            try:
                text = TOOLS[format](record.values, field=field, number=record.number)
            except InputError as error:
                on_problem(f"{record.location}: {error}")
            else:
                if text is not None:
                    yield text
