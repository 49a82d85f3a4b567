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
    from thresher.lm.reports.group_losses import group_losses  # noqa: PLC0415 (torch)

    groups = group_losses(trained, evaluation)
    return {
        **evaluation.metrics(),
        "loss_by_popularity": {each.name: _number(each.loss.mean) for each in groups},
        "interval_by_popularity": {each.name: _number(each.loss.half_width) for each in groups},
        "occurrences_by_popularity": {each.name: each.occurrences for each in groups},
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def figures_as_table(trained: "TrainedLanguageModel", evaluation: "Evaluation") -> Table:
    """Return a table with a row for each metric."""
    from thresher.lm.reports.group_losses import group_losses  # noqa: PLC0415 (torch)
    from thresher.lm.reports.report import metrics_row  # noqa: PLC0415

    table = Table("", "", "", box=SIMPLE_HEAD, pad_edge=False, show_header=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, figure in metrics_row(evaluation).items():
        table.add_row(name, figure)
    table.add_section()
    for each in group_losses(trained, evaluation):
        table.add_row(f"loss of {each.name}", str(each.loss), f"{each.occurrences:,} occurrences")
    return table
