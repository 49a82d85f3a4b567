"""thresher find: the entities of texts."""

import sys
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

import thresher
from thresher.bulk.finder_choice import ModelChoice
from thresher.bulk.memory import collecting_seldom
from thresher.cli.entities.find_in_bulk import BULK_FORMATS, ENGINES, find_in_bulk
from thresher.cli.errors import Problems
from thresher.cli.models import open_finders
from thresher.cli.option_values import completing, one_of, whole_number
from thresher.cli.options import Device, Exact, Field, Format, Model, Quiet, Sources, Threshold
from thresher.cli.output import default_format, opened, refuse_to_overwrite
from thresher.cli.progress import remark, shown
from thresher.errors import InputError

OUTPUT_FORMATS = (
    *("terminal", "jsonl", "conll", "iob2", "html"),
    *("prodigy", "doccano", "label-studio"),
)
_TO = tuple(dict.fromkeys((*OUTPUT_FORMATS, *BULK_FORMATS)))
_FORMAT_OF_SUFFIX = {
    **{".html": "html", ".htm": "html"},
    **{".conll": "conll", ".iob2": "iob2", ".iob": "iob2", ".bio": "iob2"},
    ".parquet": "parquet",
}

OutputFormat = Annotated[
    str | None,
    typer.Option(
        "--to",
        parser=one_of(*_TO),
        autocompletion=completing(*_TO),
        metavar="FORMAT",
        help="terminal (coloured), jsonl, conll, iob2 or html; or prodigy, doccano or "
        "label-studio for those tools; parquet or jsonl with --engine. By default what the name "
        "of -o says; else the coloured view on a terminal, and jsonl in a pipe or a file.",
    ),
]

OutputPlace = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write there; the file appears when it is whole. A folder with --engine.",
    ),
]
Selector = Annotated[
    int | None,
    typer.Option(
        parser=whole_number(low=1),
        metavar="K",
        help="Of a model with several selectors, find by this one; by default the one that was "
        "chosen for entities.",
    ),
]

Workers = Annotated[
    int | None,
    typer.Option(
        parser=whole_number(low=1),
        metavar="N",
        help="Find in so many processes, each with a model of its own; what is written is the "
        "same.",
    ),
]

Engine = Annotated[
    str | None,
    typer.Option(
        parser=one_of(*ENGINES),
        autocompletion=completing(*ENGINES),
        metavar="NAME",
        help="ray, for many files on one machine or many: SOURCES and -o are folders, patterns "
        "or addresses such as s3://bucket/folder. The same command goes on where it was stopped.",
    ),
]


def find(
    sources: Sources,
    from_: Format = None,
    to: OutputFormat = None,
    place: OutputPlace = None,
    model: Model = None,
    threshold: Threshold = None,
    selector: Selector = None,
    field: Field = "text",
    device: Device = None,
    exact: Exact = False,
    workers: Workers = None,
    engine: Engine = None,
    quiet: Quiet = False,
) -> None:
    """Find the entities of texts.

    thresher find notes.txt
    thresher find corpus/ --to jsonl -o found.jsonl --workers 4
    thresher find page.txt -o page.html
    thresher find words.conll --to conll    (token, B-ENT I-ENT or O, score)
    cat notes.txt | thresher find - | head

    Files of any size are read and answered piece by piece. A line that cannot
    be read is told on standard error with its number, and the rest goes on; the
    exit status is then 1.
    """
    choice = ModelChoice(model, device, selector, exact)
    if engine is not None:
        return find_in_bulk(
            sources,
            place,
            model=choice,
            from_=from_,
            to=to,
            field=field,
            threshold=threshold,
            workers=workers,
            quiet=quiet,
        )
    output = None if place is None else Path(place)
    form = to or default_format(output, _FORMAT_OF_SUFFIX)
    if form not in OUTPUT_FORMATS:
        raise InputError(f"only --engine {ENGINES[0]} writes {form}")
    from thresher.cli.entities.writers import Find  # noqa: PLC0415 (numpy; not needed for help)

    refuse_to_overwrite(sources, output)
    problems = Problems()
    texts = thresher.read_texts(sources, format=from_, field=field, on_problem=problems)
    documents = chain([next(texts)], texts)  # so that "nothing to read" needs no model
    unseen = quiet or (output is None and sys.stdout.isatty())
    with (
        collecting_seldom(),
        open_finders(choice, workers=workers, quiet=quiet) as finders,
        shown(quiet=unseen) as progress,
        opened(output) as write,
    ):
        run = Find(finders, progress.counted(documents, "finding"), threshold)
        for piece in run.written(form):
            write(piece)
    if output is not None:
        remark(f"{run.entities:,} entities in {output}", quiet=quiet)
    problems.conclude()
