"""thresher entities: a table of the entities of a corpus."""

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from thresher.bulk.chunks import FindMentions, split_into_chunks
from thresher.bulk.memory import rare_garbage_collection
from thresher.cli.entities.find import with_discovered_kinds
from thresher.cli.entities.highlight import safe
from thresher.cli.errors import Problems, print_note
from thresher.cli.models import open_finders
from thresher.cli.option_groups import flag, number_option, option, with_option_groups
from thresher.cli.options import FinderOptions, Only, RunOptions, TextOptions, Workers
from thresher.cli.output import (
    OutputFile,
    check_output_file,
    default_format,
    open_output,
    plural,
    render,
)
from thresher.cli.progress import print_remark, progress_bars
from thresher.entities.choices import KindsWord
from thresher.entities.tables.co_mentions import Scope
from thresher.errors import InputError
from thresher.text.document import Document
from thresher.text.formats.tables import to_csv, to_parquet
from thresher.text.records import JsonObject, to_json_line

if TYPE_CHECKING:
    from thresher.entities.tables.counting import EntityRow, EntityTable

SPELLINGS_SEPARATOR = " | "  # in a cell of a CSV or TSV table
_WIDE, _VERY_WIDE = 100, 140  # characters of a terminal that shows more columns
_SHOWN = 50  # rows on a terminal, if `top` is not given
_PLOT_FORMATS = ("svg", "png", "pdf")


class TableFormat(StrEnum):
    """The formats that `thresher entities` writes."""

    TERMINAL = "terminal"
    CSV = "csv"
    TSV = "tsv"
    JSONL = "jsonl"
    PARQUET = "parquet"


_FORMAT_OF_SUFFIX = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet"}

To = Annotated[
    TableFormat | None,
    option(
        "terminal, csv, tsv, jsonl or parquet; by default the name of the output file decides, "
        "else terminal on a terminal, and jsonl otherwise.",
        metavar="FORMAT",
    ),
]
Top = Annotated[int | None, number_option("Only this many entities, the most frequent ones.")]
NoGroup = Annotated[
    bool,
    flag(
        "Count every spelling on its own. By default spellings that differ in case, articles, "
        "possessives or accents are one entity, and a surname counts as the full name in the same "
        "document.",
        "--no-group",
    ),
]
Graph = Annotated[
    Path | None,
    option(
        "Also write the entities that are mentioned together as GraphML, for Gephi, Cytoscape or "
        "networkx.",
        metavar="FILE",
    ),
]
Plot = Annotated[
    Path | None,
    option(
        "Also draw the entities that are mentioned together (svg, png or pdf); needs the extra "
        "plots.",
        metavar="FILE",
    ),
]
Within = Annotated[
    Scope,
    option("Entities are mentioned together in a sentence or a document.", metavar="SCOPE"),
]


@with_option_groups
def entities(
    texts: TextOptions,
    finder: FinderOptions,
    run: RunOptions,
    output: OutputFile = None,
    to: To = None,
    top: Top = None,
    only: Only = None,
    no_group: NoGroup = False,
    graph: Graph = None,
    plot: Plot = None,
    within: Within = Scope.SENTENCE,
    workers: Workers = None,
) -> None:
    """List the entities of texts: one row for each, with the number of mentions.

    thresher entities corpus/ --top 50
    thresher entities corpus/ -o entities.csv
    thresher entities corpus/ --only person --graph people.graphml
    thresher entities corpus/ --plot together.svg

    A row has the kind, the numbers of mentions and documents, the first mention,
    all spellings, an example sentence and the mean score of the mentions.
    """
    output_format = to or default_format(output, _FORMAT_OF_SUFFIX)
    if output_format == TableFormat.PARQUET and output is None:
        raise InputError("Parquet is not written to standard output; name a file with `output`")
    plot_format = _plot_format(plot)
    for path in (output, graph, plot):
        check_output_file(path, texts.sources)
        if path is not None and not path.parent.is_dir():
            raise InputError(f"cannot write {path}: there is no folder {path.parent}")
    from thresher.entities.tables.counting import EntityTable  # noqa: PLC0415 (numpy)

    problems = Problems()
    documents: Iterator[Document] = texts.read(problems)
    documents = chain([next(documents)], documents)  # fails without text, before a model is loaded
    choice = finder.choice(run.device)
    if choice.kinds == KindsWord.AUTO:
        all_documents = list(documents)
        choice = with_discovered_kinds(choice, all_documents, quiet=run.quiet)
        documents = iter(all_documents)
    table = EntityTable(group=not no_group, within=within)
    with (
        rare_garbage_collection(),
        open_finders(choice, workers=workers, quiet=run.quiet) as finders,
        progress_bars(quiet=run.quiet) as progress,
    ):
        task = FindMentions(finder.threshold, only)
        chunks = split_into_chunks(progress.track(documents, "finding"))
        for chunk, found in finders.map(task, chunks):
            for document, mentions in zip(chunk, found, strict=True):
                table.add(document, mentions)
    _write_table(table, output, output_format, top)
    _write_graph(table, top, graph, plot, plot_format)
    if table.forgotten:
        print_note(
            f"the corpus has too many names to count them all: {table.forgotten:,} rare ones were "
            "forgotten, and counts of others may be too low"
        )
    for path in filter(None, (output, graph, plot)):
        print_remark(f"{plural(len(table), 'entity')} in {path}", quiet=run.quiet)
    problems.exit_if_any()


def _plot_format(plot: Path | None) -> str:
    plot_format = "svg" if plot is None else plot.suffix.lower().removeprefix(".")
    if plot_format not in _PLOT_FORMATS:
        raise InputError(
            f"`plot` draws {', '.join(_PLOT_FORMATS)}, which the file name must end in"
        )
    return plot_format


def _write_table(
    table: "EntityTable", output: Path | None, output_format: str, top: int | None
) -> None:
    rows = table.rows(top)
    with open_output(output) as write:
        if output_format == TableFormat.TERMINAL:
            shown = rows if top is not None or output is not None else rows[:_SHOWN]
            write(f"{render(terminal_table(shown, width=Console().width))}\n")
            if len(shown) < len(table):
                write(f"{len(shown):,} of {len(table):,} entities\n")
            return
        for piece in _pieces(rows, output_format):
            write(piece)


def _pieces(rows: Sequence["EntityRow"], output_format: str) -> Iterator[str] | Iterator[bytes]:
    """Yield the pieces of the table in a format for programs."""
    columns = "entity kind mentions documents first_mention spellings example score".split()
    values = [row.as_json() for row in rows]
    if output_format == TableFormat.JSONL:
        return map(to_json_line, values)
    if output_format == TableFormat.PARQUET:
        return to_parquet(values, first=columns)
    delimiter = "\t" if output_format == TableFormat.TSV else ","
    return to_csv(map(_with_joined_spellings, values), first=columns, delimiter=delimiter)


def _with_joined_spellings(row: JsonObject) -> JsonObject:
    return row | {"spellings": SPELLINGS_SEPARATOR.join(row["spellings"])}


def terminal_table(rows: Sequence["EntityRow"], *, width: int) -> Table:
    """Return the table for a terminal; first mentions and examples are shown if they fit.

    width: of the terminal, in characters
    """
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    columns: dict[str, Callable[[EntityRow], str]] = {"entity": lambda row: row.entity}
    if any(row.kind is not None for row in rows):
        columns["kind"] = lambda row: row.kind or "–"
    columns["mentions"] = lambda row: f"{row.mentions:,}"
    columns["documents"] = lambda row: f"{row.documents:,}"
    columns["score"] = lambda row: f"{row.score:.2f}"
    columns["other spellings"] = _other_spellings
    if width >= _WIDE:
        columns["first mention"] = lambda row: Path(row.first_mention).name
    if width >= _VERY_WIDE:
        columns["example"] = lambda row: row.example
    for name in columns:
        is_number = name in ("mentions", "documents", "score")
        is_long = name in ("other spellings", "first mention", "example")
        table.add_column(
            name,
            justify="right" if is_number else "left",
            no_wrap=True,
            overflow="ellipsis",
            min_width=len(name) if is_number or is_long else 16 if name == "entity" else None,
            max_width=40 if name == "entity" else None,
            ratio=1 if is_long else None,
        )
    for row in rows:
        table.add_row(*(Text(safe(cell(row))) for cell in columns.values()))
    return table


def _other_spellings(row: "EntityRow") -> str:
    return SPELLINGS_SEPARATOR.join(each for each in row.spellings if each != row.entity)


def _write_graph(
    table: "EntityTable", top: int | None, graph: Path | None, plot: Path | None, plot_format: str
) -> None:
    if graph is None and plot is None:
        return
    co_mentions = table.co_mentions(top)
    if graph is not None:
        with open_output(graph) as write:
            write(co_mentions.to_graphml())
    if plot is not None:
        from thresher.entities.tables.plot import plot_co_mentions  # noqa: PLC0415 (numpy)

        with open_output(plot) as write:
            write(plot_co_mentions(co_mentions, format=plot_format))
