"""thresher rationale find: the labels of texts, and the words that carry them."""

import sys
from itertools import chain
from typing import Annotated

import typer

from thresher.cli.errors import Problems
from thresher.cli.models import load_rationales
from thresher.cli.option_values import one_of
from thresher.cli.options import Device, Quiet
from thresher.cli.output import OutputFile, default_format, opened, refuse_to_overwrite
from thresher.cli.progress import remark, shown
from thresher.cli.rationales import options
from thresher.cli.rationales.writers import Explain
from thresher.rationales.labelled_texts import Fields, read_labelled

OUTPUT_FORMATS = ("terminal", "jsonl", "html")
_FORMAT_OF_SUFFIX = {".html": "html", ".htm": "html"}

OutputFormat = Annotated[
    str | None,
    typer.Option(
        "--to",
        parser=one_of(*OUTPUT_FORMATS),
        metavar="FORMAT",
        help="terminal (coloured), jsonl or html. By default what the name of -o says; else the "
        "coloured view on a terminal, and jsonl in a pipe or a file.",
    ),
]


def find(
    texts: options.Texts,
    model: options.ModelFolder,
    from_: options.DataFormat = None,
    text_field: options.TextField = "text",
    to: OutputFormat = None,
    output: OutputFile = None,
    threshold: options.Threshold = None,
    device: Device = None,
    quiet: Quiet = False,
) -> None:
    """Label texts and mark the words that carry the label.

    thresher rationale find reviews.jsonl --model model
    thresher rationale find reviews.csv --model model -o page.html
    echo "Cold soup." | thresher rationale find - --from lines --model model

    Labels of the texts, if they have any, are not read. A record that cannot be
    read is told on standard error with its line, and the rest goes on; the exit
    status is then 1.
    """
    refuse_to_overwrite(texts, output)
    problems = Problems()
    fields = Fields(text=text_field)
    read = read_labelled(texts, fields=fields, format=from_, on_problem=problems)
    documents = chain([next(read)], read)  # so that "nothing to read" needs no model
    finder = load_rationales(model, device=device, quiet=quiet)
    with shown(quiet=quiet or (output is None and sys.stdout.isatty())) as progress:
        run = Explain(finder, progress.counted(documents, "finding"), threshold)
        with opened(output) as write:
            for piece in run.written(to or default_format(output, _FORMAT_OF_SUFFIX)):
                write(piece)
    if output is not None:
        remark(f"{run.texts:,} texts in {output}", quiet=quiet)
    problems.conclude()
