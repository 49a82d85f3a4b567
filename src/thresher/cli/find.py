"""thresher find: the entities of texts."""

import sys
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

import thresher
from thresher.cli.errors import Problems
from thresher.cli.models import load_finder
from thresher.cli.options import Device, Field, Format, Model, Quiet, Sources, Threshold
from thresher.cli.output import opened
from thresher.cli.progress import remark, shown
from thresher.cli.values import completing, one_of, whole_number
from thresher.errors import InputError
from thresher.text.sources import find_sources

OUTPUT_FORMATS = (
    *("terminal", "jsonl", "conll", "iob2", "html"),
    *("prodigy", "doccano", "label-studio"),
)
_FORMAT_OF_SUFFIX = {
    **{".html": "html", ".htm": "html"},
    **{".conll": "conll", ".iob2": "iob2", ".iob": "iob2", ".bio": "iob2"},
}

OutputFormat = Annotated[
    str | None,
    typer.Option(
        "--to",
        parser=one_of(*OUTPUT_FORMATS),
        autocompletion=completing(*OUTPUT_FORMATS),
        metavar="FORMAT",
        help="terminal (coloured), jsonl, conll, iob2 or html; or prodigy, doccano or "
        "label-studio for those tools. By default what the name of -o says; else the coloured "
        "view on a terminal, and jsonl in a pipe or a file.",
    ),
]
OutputFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write there; the file appears when it is whole.",
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


def find(
    sources: Sources,
    from_: Format = None,
    to: OutputFormat = None,
    output: OutputFile = None,
    model: Model = None,
    threshold: Threshold = None,
    selector: Selector = None,
    field: Field = "text",
    device: Device = None,
    quiet: Quiet = False,
) -> None:
    """Find the entities of texts.

    thresher find notes.txt
    thresher find corpus/ --to jsonl -o found.jsonl
    thresher find page.txt -o page.html
    thresher find words.conll --to conll    (token, B-ENT I-ENT or O, score)
    cat notes.txt | thresher find - | head

    Files of any size are read and answered piece by piece. A line that cannot
    be read is told on standard error with its number, and the rest goes on; the
    exit status is then 1.
    """
    from thresher.cli.writers import Find  # noqa: PLC0415 (numpy; not needed for help)

    _refuse_to_overwrite(sources, output)
    problems = Problems()
    texts = thresher.read_texts(sources, format=from_, field=field, on_problem=problems)
    documents = chain([next(texts)], texts)  # so that "nothing to read" needs no model
    finder = load_finder(model, device=device, quiet=quiet)
    if selector is not None:
        finder = finder.with_selector(selector)
    form = to or _default_format(output)
    with shown(quiet=quiet or (output is None and sys.stdout.isatty())) as progress:
        counted = progress.counted(documents, "finding")
        run = Find(finder, counted, finder.threshold if threshold is None else threshold)
        with opened(output) as write:
            for piece in run.written(form):
                write(piece)
    if output is not None:
        remark(f"{run.entities:,} entities in {output}", quiet=quiet)
    problems.conclude()


def _refuse_to_overwrite(sources: list[str], output: Path | None) -> None:
    read = [Path(name).resolve() for name in find_sources(sources)]
    if output is not None and output.resolve() in read:
        raise InputError(f"{output} is one of the sources; choose another place for what is found")


def _default_format(output: Path | None) -> str:
    if output is not None:
        return _FORMAT_OF_SUFFIX.get(output.suffix.lower(), "jsonl")
    return "terminal" if sys.stdout.isatty() else "jsonl"
