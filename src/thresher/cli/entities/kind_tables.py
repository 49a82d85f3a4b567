"""Tables of the figures of each kind, and of confusions between kinds."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from thresher.entities.evaluation.kinds import KindEvaluation


def kind_tables(evaluations: Mapping[str, "KindEvaluation | None"]) -> list[Table]:
    """Return a table of all kinds, and a confusion matrix for each variant that was evaluated."""
    typed = {name: each for name, each in evaluations.items() if each is not None}
    if not typed:
        return []
    return [_figures_table(typed), *(_confusion_table(name, each) for name, each in typed.items())]


def _figures_table(evaluations: Mapping[str, "KindEvaluation"]) -> Table:
    columns = [f"{name}: {figure}" for name in evaluations for figure in ("P", "R", "F1")]
    table = _table("kind", *columns, "gold", title="Exact spans with their kind")
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


def _confusion_table(name: str, evaluation: "KindEvaluation") -> Table:
    gold, predicted, cells = evaluation.confusion_matrix()
    title = f"Confusions, {name}: gold kinds in rows, predicted kinds in columns"
    table = _table("", *predicted, title=title)
    for kind, counts in zip(gold, cells, strict=True):
        table.add_row(Text(kind), *(f"{count:,}" if count else "·" for count in counts))
    return table


def _table(first: str, *others: str, title: str) -> Table:
    table = Table(first, box=SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    for name in others:
        table.add_column(Text(name), justify="right")
    return table
