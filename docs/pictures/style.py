"""Shared style of the figures in docs/; `make pictures` draws them."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

HERE = Path(__file__).parent
WIDTH = 9.0  # inches, of every figure
BLUE, ORANGE, GREEN, PURPLE, GREY = "#2166ac", "#d95f0e", "#1b7837", "#762a83", "#666666"
STYLE = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11,
    "legend.frameon": False,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.hashsalt": "thresher",  # makes the files reproducible
}


def panels(rows: int, columns: int, height: float) -> tuple[Figure, Sequence[Axes]]:
    """Return a figure of the common width and its axes, row by row."""
    figure, axes = plt.subplots(rows, columns, figsize=(WIDTH, height), layout="constrained")
    return figure, list(axes.flat)


def save(figure: Figure, name: str) -> None:
    """Write the figure to this folder, without a date."""
    figure.savefig(HERE / name, metadata={"Date": None})
    plt.close(figure)
