"""Tables of the figures of each kind, and of confusions between kinds."""

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from thresher.entities.evaluation.kinds import KindEvaluation


def kind_tables(
    evaluations: Mapping[str, "KindEvaluation | None"], *, width: int | None = None
) -> list[RenderableType]:
    """Return a table of all kinds and a confusion matrix for each evaluated variant, with titles.

    width: in characters, by default that of the terminal; a wider matrix is divided
    """
    typed = {name: each for name, each in evaluations.items() if each is not None}
    if not typed:
        return []
    width = width or Console().width
    shown: list[RenderableType] = [_title("Exact spans with their kind"), _figures_table(typed)]
    for name, each in typed.items():
        title = f"Confusions, {name}: gold kinds in rows, predicted kinds in columns"
        shown += [_title(title), *_confusion_tables(each, width)]
    return shown


def _title(text: str) -> Text:
    """Return a title; as that of a table, it would be as narrow as the table."""
    return Text(text, "italic")


def _figures_table(evaluations: Mapping[str, "KindEvaluation"]) -> Table:
    columns = [column for name in evaluations for column in (f"{name}\nP", "\nR", "\nF1")]
    table = _table("\nkind", *columns, "\ngold")
    kinds = dict.fromkeys(kind for each in evaluations.values() for kind in each.counts)
    for kind in (*kinds, None):
        row = [Text("all kinds" if kind is None else kind)]
        gold = 0
        for each in evaluations.values():
            counts = each.all_kinds if kind is None else each.counts.get(kind)
            figures = (counts.precision, counts.recall, counts.f1) if counts else (0.0, 0.0, 0.0)
            row += (Text(f"{figure:.3f}") for figure in figures)
            gold = counts.gold if counts else gold
        if kind is None:
            table.add_section()
        table.add_row(*row, f"{gold:,}")
    return table


def _confusion_tables(evaluation: "KindEvaluation", width: int) -> Iterator[Table]:
    """Yield a confusion matrix; if it is wider than the terminal, some columns at a time."""
    gold, predicted, cells = evaluation.confusion_matrix()
    counts = [[f"{count:,}" if count else "·" for count in row] for row in cells]
    columns = [
        (kind.replace(" ", "\n"), *(row[number] for row in counts))
        for number, kind in enumerate(predicted)
    ]
    room = width - max(map(cell_len, gold)) - 2  # of the edges
    while columns:
        ends = accumulate(1 + max(map(_width, column)) for column in columns)
        fitting = max(sum(end <= room for end in ends), 1)
        shown, columns = columns[:fitting], columns[fitting:]
        table = _table("", *(heading for heading, *_ in shown))
        for kind, *row in zip(gold, *(values for _, *values in shown), strict=True):
            table.add_row(Text(kind), *row)
        yield table


def _width(cell: str) -> int:
    return max(map(cell_len, cell.split("\n")))


def _table(first: str, *others: str) -> Table:
    # One space between columns, so that a matrix of the built-in kinds fits 80 characters.
    table = Table(box=SIMPLE_HEAD, padding=0, pad_edge=False)
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(Text(name), justify="right", no_wrap=True, vertical="bottom")
    return table
