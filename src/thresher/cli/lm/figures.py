"""Metrics of a language model as JSON and as a table."""

import math
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

if TYPE_CHECKING:
    from thresher.lm.reports.evaluation import Evaluation
    from thresher.lm.trained_model import TrainedLanguageModel


def figures_as_json(trained: "TrainedLanguageModel", evaluation: "Evaluation") -> dict[str, Any]:
    """Return all metrics; groups without tokens have None."""
    from thresher.lm.reports.report import group_losses  # noqa: PLC0415 (torch)

    losses = group_losses(trained, evaluation)
    groups = {name: None if math.isnan(loss) else loss for name, loss in losses.items()}
    return {**evaluation.metrics(), "loss_by_popularity": groups}


def figures_as_table(trained: "TrainedLanguageModel", evaluation: "Evaluation") -> Table:
    """Return a table with a row for each metric."""
    from thresher.lm.reports.report import group_row, metrics_row  # noqa: PLC0415 (torch)

    table = Table("", "", box=SIMPLE_HEAD, pad_edge=False, show_header=False)
    table.columns[1].justify = "right"
    for name, figure in metrics_row(evaluation).items():
        table.add_row(name, figure)
    table.add_section()
    for name, figure in group_row(trained, evaluation).items():
        table.add_row(f"loss of {name}", figure)
    return table
