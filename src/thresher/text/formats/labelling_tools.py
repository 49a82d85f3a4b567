"""Texts that people labelled in Prodigy, doccano or Label Studio."""

from collections.abc import Callable, Iterator
from pathlib import Path

from thresher.errors import InputError, WarningHandler, raise_input_error
from thresher.text.formats.doccano import from_doccano
from thresher.text.formats.label_studio import from_label_studio
from thresher.text.formats.prodigy import from_prodigy
from thresher.text.records import json_records
from thresher.text.sources import open_source
from thresher.text.tagged_text import TaggedText

TOOLS: dict[str, Callable[..., TaggedText | None]] = {
    "prodigy": from_prodigy,
    "doccano": from_doccano,
    "label-studio": from_label_studio,
}


def read_labelled(
    path: str | Path,
    *,
    format: str,  # noqa: A002
    field: str = "text",
    on_problem: WarningHandler | None = None,
) -> Iterator[TaggedText]:
    """The texts of a file with what was marked in them; those without an answer are left out.

    format: prodigy, doccano or label-studio
    on_problem: told of each record that had to be passed over; without it the first one raises
    """
    if format not in TOOLS:
        raise InputError(f"unknown format {format!r}; choose from {', '.join(sorted(TOOLS))}")
    report = on_problem or raise_input_error
    with open_source(path) as stream:
        for record in json_records(stream, name=str(path), on_problem=report):
            try:
                text = TOOLS[format](record.values, field=field, number=record.number)
            except InputError as error:
                report(f"{record.location}: {error}")
            else:
                if text is not None:
                    yield text
