"""thresher entities: a table of the entities of a corpus."""

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from thresher.bulk.chunks import FindMentions, split_into_chunks
from thresher.cli.entities.find_options import FinderOptions, Only, Workers
from thresher.cli.entities.highlight import printable
from thresher.cli.entities.preparation import Adapt, Background, documents_of, prepare
from thresher.cli.errors import Problems, print_note
from thresher.cli.models import open_finders, set_thread_defaults
from thresher.cli.option_groups import flag, number_option, option, with_option_groups
from thresher.cli.options import RunOptions, TextOptions, refuse_standard_output
from thresher.cli.output import (
    OutputFile,
    check_outputs,
    chosen_format,
    open_output,
    plural,
    render,
)
from thresher.cli.progress import print_remark, progress_bars
from thresher.entities.choices import CoMentionScope
from thresher.errors import InputError
from thresher.text.formats.tables import to_csv, to_parquet
from thresher.text.records import JsonObject, to_json_line

if TYPE_CHECKING:
    from thresher.entities.tables.counting import EntityRow, EntityTable

_PLOT_FORMATS = ("svg", "png", "pdf")
_FORMAT_OF_SUFFIX = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet"}


class TableFormat(StrEnum):
    """The formats that `thresher entities` writes."""

    TERMINAL = "terminal"
    CSV = "csv"
    TSV = "tsv"
    JSONL = "jsonl"
    PARQUET = "parquet"


To = Annotated[
    TableFormat | None,
    option(
        "terminal, csv, tsv, jsonl or parquet. By default what the name of the output file ends "
        "in; without a file, terminal on a terminal and jsonl in a pipe.",
        metavar="FORMAT",
    ),
]
Top = Annotated[int | None, number_option("Write only this many entities, the most frequent ones.")]
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
        callback=refuse_standard_output,
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
    CoMentionScope,
    option("Entities are mentioned together in a sentence or a document.", metavar="SCOPE"),
]
SPELLINGS_SEPARATOR = " | "  # in a cell of a CSV or TSV table
_WIDE, _VERY_WIDE = 100, 140  # characters of a terminal that shows more columns
_SHOWN = 50  # rows on a terminal, if `top` is not given


@with_option_groups
def entities(
    *,
    texts: TextOptions,
    output: OutputFile = None,
    to: To = None,
    top: Top = None,
    only: Only = None,
    no_group: NoGroup = False,
    graph: Graph = None,
    plot: Plot = None,
    within: Within = CoMentionScope.SENTENCE,
    finder: FinderOptions,
    adapt: Adapt = None,
    background: Background = None,
    workers: Workers = None,
    run: RunOptions,
) -> None:
    """List the entities of texts: one row for each, with the number of mentions.

    thresher entities corpus/ --top 50
    thresher entities corpus/ -o entities.csv
    thresher entities corpus/ --only person --graph people.graphml
    thresher entities corpus/ --plot together.svg

    A row has the kind, the numbers of mentions and documents, the first mention,
    all spellings, an example sentence and the mean score of the mentions.
    """
    set_thread_defaults()
    output_format = chosen_format(to, output, _FORMAT_OF_SUFFIX)
    plot_format = _plot_format(plot)
    check_outputs((output, graph, plot), texts.sources)
    from thresher.entities.tables.counting import EntityTable  # noqa: PLC0415 (numpy)

    problems = Problems()
    documents = documents_of(texts, problems)
    choice, documents = prepare(
        finder.choice(run.device), documents, adapt=adapt, background=background, quiet=run.quiet
    )
    table = EntityTable(group=not no_group, within=within)
    with (
        open_finders(choice, workers=workers, quiet=run.quiet) as finders,
        progress_bars(quiet=run.quiet) as progress,
    ):
        task = FindMentions(finder.threshold, only)
        chunks = split_into_chunks(progress.track(documents, "finding"))
        for chunk, found in finders.map(task, chunks):
            for document, mentions in zip(chunk, found, strict=True):
                table.add(document, mentions)
    write_table(table, output, output_format, top)
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
        raise InputError("the file name of `plot` must end in .svg, .png or .pdf")
    return plot_format


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


def write_table(
    table: "EntityTable", output: Path | None, output_format: str, top: int | None
) -> None:
    """Write the `top` most frequent entities, or all, to a file or to standard output."""
    rows = table.rows(top)
    with open_output(output) as write:
        if output_format == TableFormat.TERMINAL:
            shown = rows if top is not None or output is not None else rows[:_SHOWN]
            write(f"{render(_terminal_table(shown, width=Console().width))}\n")
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


def _terminal_table(rows: Sequence["EntityRow"], *, width: int) -> Table:
    """Return the table for a terminal; first mentions and examples are shown if they fit.

    width: the width of the terminal, in characters
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
        table.add_column(name, no_wrap=True, overflow="ellipsis", **_column_layout(name))
    for row in rows:
        table.add_row(*(Text(printable(cell(row))) for cell in columns.values()))
    return table


def _column_layout(name: str) -> dict[str, Any]:
    """Return arguments of `Table.add_column`."""
    if name == "entity":
        return {"min_width": 16, "max_width": 40}
    if name in ("mentions", "documents", "score"):
        return {"min_width": len(name), "justify": "right"}
    if name in ("other spellings", "first mention", "example"):
        return {"min_width": len(name), "ratio": 1}
    return {}


def _other_spellings(row: "EntityRow") -> str:
    return SPELLINGS_SEPARATOR.join(each for each in row.spellings if each != row.entity)
