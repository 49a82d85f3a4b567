"""thresher find: find the entities of texts."""

import sys
from collections.abc import Iterable, Iterator, Set
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from thresher.cli.entities.find_in_bulk import Engine, find_in_bulk
from thresher.cli.entities.find_options import (
    FinderOptions,
    FindTextOptions,
    Only,
    Selector,
    Workers,
)
from thresher.cli.entities.preparation import Adapt, Background, adapted, documents_of, prepare
from thresher.cli.errors import Problems, print_note
from thresher.cli.models import open_finders, set_thread_defaults
from thresher.cli.option_groups import option, with_option_groups
from thresher.cli.options import RunOptions, output_option
from thresher.cli.output import check_outputs, chosen_format, open_output
from thresher.cli.progress import print_remark, progress_bars
from thresher.entities.readable_scripts import unreadable_text
from thresher.text.document import Document
from thresher.text.segmentation.unspaced_scripts import missing_dictionary
from thresher.text.sources import display_name


class OutputFormat(StrEnum):
    """The formats that `thresher find` writes."""

    TERMINAL = "terminal"
    JSONL = "jsonl"
    CONLL = "conll"
    IOB2 = "iob2"
    HTML = "html"
    PRODIGY = "prodigy"
    DOCCANO = "doccano"
    LABEL_STUDIO = "label-studio"
    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"


_FORMAT_OF_SUFFIX = {
    ".html": "html",
    ".htm": "html",
    ".conll": "conll",
    ".iob2": "iob2",
    ".iob": "iob2",
    ".bio": "iob2",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
}

To = Annotated[
    OutputFormat | None,
    option(
        "terminal (coloured), jsonl, conll, iob2, html, prodigy, doccano, label-studio, or a table "
        "of entities: csv, tsv, parquet; with --engine, jsonl or parquet. By default what the name "
        "of the output file ends in; without a file, terminal on a terminal and jsonl in a pipe.",
        metavar="FORMAT",
    ),
]
Output = Annotated[
    str | None,
    output_option(
        "Write to this file, which appears when it is complete; with --engine, a folder."
    ),
]
EngineName = Annotated[
    Engine | None,
    option(
        "ray, to process many files on one or several machines: SOURCES and -o are folders, "
        "patterns or addresses such as s3://bucket/folder. The same command continues a stopped "
        "run.",
        metavar="NAME",
    ),
]


@with_option_groups
def find(
    *,
    texts: FindTextOptions,
    output: Output = None,
    to: To = None,
    only: Only = None,
    finder: FinderOptions,
    selector: Selector = None,
    adapt: Adapt = None,
    background: Background = None,
    workers: Workers = None,
    engine: EngineName = None,
    run: RunOptions,
) -> None:
    """Find the entities of texts.

    thresher find notes.txt
    thresher find "Marie Curie moved to Paris."
    thresher find page.html report.pdf letters.mbox
    thresher find table.csv --column body
    thresher find corpus/ --to jsonl -o found.jsonl --workers 4
    thresher find page.txt -o page.html
    thresher find table.csv -o entities.csv   (one row for each entity)
    thresher find notes.txt --only person,place
    thresher find noter.txt --model multilingual   (any of a hundred languages)
    thresher find notes.txt --kinds kinds.toml   (example names of your kinds)
    thresher find corpus/ --kinds auto           (kinds discovered in the texts)
    thresher find words.conll --to conll    (token, B-ENT I-ENT or O, score)
    cat notes.txt | thresher find | head

    Files of any size are processed piece by piece. Lines that cannot be read are
    reported with their number and skipped; the exit status is then 1.
    """
    set_thread_defaults()
    choice = finder.choice(run.device, selector)
    if engine is not None:
        documents = texts.read(Problems())
        choice, _ = adapted(choice, documents, adapt=adapt, background=background, quiet=run.quiet)
        find_in_bulk(
            texts,
            output,
            finder=choice,
            to=to,
            threshold=finder.threshold,
            only=only,
            workers=workers,
            quiet=run.quiet,
        )
        return
    path = None if output is None else Path(output)
    check_outputs([path], texts.files())
    output_format = chosen_format(to, path, _FORMAT_OF_SUFFIX)
    from thresher.cli.entities.writers import EntityWriter  # noqa: PLC0415 (numpy)

    problems = Problems()
    documents = documents_of(texts, problems)
    choice, documents = prepare(
        choice, documents, adapt=adapt, background=background, quiet=run.quiet
    )
    on_terminal = path is None and sys.stdout.isatty()
    with (
        open_output(path) as write,
        open_finders(choice, workers=workers, quiet=run.quiet) as finders,
        progress_bars(quiet=run.quiet or on_terminal) as progress,
    ):
        documents = _report_unreadable(documents, choice.readable_scripts(), problems)
        tracked = progress.track(documents, "finding")
        writer = EntityWriter(finders, tracked, finder.threshold, only)
        for piece in writer.pieces(output_format):
            write(piece)
    if path is not None:
        print_remark(f"{writer.entities:,} entities in {path}", quiet=run.quiet)
    problems.exit_if_any()


def _report_unreadable(
    documents: Iterable[Document], scripts: Set[str] | None, problems: Problems
) -> Iterator[Document]:
    """Yield all documents; report those that the model cannot read, or not split into words.

    scripts: those that the model can read; None for all
    """
    has_note = False
    for document in documents:
        if problem := unreadable_text(document.text, scripts):
            problems(f"{display_name(document.source)}:{document.number}: {problem}")
        elif not (has_note or document.sentences):
            note = missing_dictionary(document.text)
            has_note = note is not None
            if note:
                print_note(note)
        yield document
