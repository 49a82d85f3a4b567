"""What a language model is worth, for a person and for a program."""

import math
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

if TYPE_CHECKING:
    from thresher.lm.reports.evaluation import Evaluation
    from thresher.lm.trained_model import TrainedLanguageModel


def figures_as_json(learned: "TrainedLanguageModel", found: "Evaluation") -> dict[str, Any]:
    """All figures, with null for what there is no number for."""
    from thresher.lm.reports.report import group_losses  # noqa: PLC0415 (torch; help does without)

    losses = group_losses(learned, found)
    groups = {name: None if math.isnan(loss) else loss for name, loss in losses.items()}
    return {**found.figures(), "loss_by_popularity": groups}


def figures_as_table(learned: "TrainedLanguageModel", found: "Evaluation") -> Table:
    """All figures, one to a line."""
    from thresher.lm.reports.report import figure_row, group_row  # noqa: PLC0415 (torch)

    table = Table("", "", box=SIMPLE_HEAD, pad_edge=False, show_header=False)
    table.columns[1].justify = "right"
    for name, figure in figure_row(found).items():
        table.add_row(name, figure)
    table.add_section()
    for name, figure in group_row(learned, found).items():
        table.add_row(f"loss of {name}", figure)
    return table
