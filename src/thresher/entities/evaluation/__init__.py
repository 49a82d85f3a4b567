"""Evaluation of finders on labelled texts, and the metrics it is made of."""

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
