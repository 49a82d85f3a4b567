"""Evaluation of finders on labelled texts, and the metrics it is made of."""

from typing import TYPE_CHECKING

from thresher.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from thresher.entities.evaluation.evaluate import FinderEvaluation, GoldTexts, evaluate_finder
    from thresher.entities.evaluation.kinds import KindEvaluation, evaluate_kinds
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
    "KindEvaluation",
    "calibration",
    "evaluate_finder",
    "evaluate_kinds",
    "span_counts",
    "word_average_precision",
    "word_counts",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "thresher.entities.evaluation.evaluate": [
            "FinderEvaluation",
            "GoldTexts",
            "evaluate_finder",
        ],
        "thresher.entities.evaluation.kinds": ["KindEvaluation", "evaluate_kinds"],
        "thresher.entities.evaluation.metrics": [
            "Bin",
            "Calibration",
            "Counts",
            "calibration",
            "span_counts",
            "word_average_precision",
            "word_counts",
        ],
    },
)
