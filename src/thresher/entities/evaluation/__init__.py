"""Evaluation of finders on labelled texts, and the metrics it is made of."""

from typing import TYPE_CHECKING

from thresher.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from thresher.entities.evaluation.evaluate import FinderEvaluation, GoldTexts, evaluate_finder
    from thresher.entities.evaluation.metrics import (
        Bin,
        Calibration,
        Counts,
        calibration,
        span_counts,
        word_average_precision,
        word_counts,
    )

__all__ = [
    "Bin",
    "Calibration",
    "Counts",
    "FinderEvaluation",
    "GoldTexts",
    "calibration",
    "evaluate_finder",
    "span_counts",
    "word_average_precision",
    "word_counts",
]

_EVALUATE = ("FinderEvaluation", "GoldTexts", "evaluate_finder")
__getattr__, __dir__ = lazy_exports(
    "thresher.entities.evaluation",
    {
        name: f"thresher.entities.evaluation.{'evaluate' if name in _EVALUATE else 'metrics'}"
        for name in __all__
    },
)
