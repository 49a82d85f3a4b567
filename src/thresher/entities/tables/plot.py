"""Draw entities that are mentioned together as a graph."""

import io
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thresher.entities.tables.co_mentions import CoMentions
from thresher.errors import requires_extra
from thresher.text.kind_colours import KindColours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Points = NDArray[np.float64]

MAX_DRAWN = 60  # entities; more labels would cover each other
_STEPS = 400
_MAX_LABEL = 28  # characters
_STYLE: dict[Any, Any] = {"svg.hashsalt": "thresher", "svg.fonttype": "none"}


def plot_co_mentions(graph: CoMentions, *, format: str = "svg") -> bytes:  # noqa: A002
    """Return a picture: entities as circles, and lines between those mentioned together.

    The area of a circle grows with the number of mentions, the width of a line with the number of
    co-mentions, and the colour is that of the kind. Entities that are mentioned alone are not
    drawn.

    format: svg, png or pdf
    """
    with requires_extra("plots", "plots need matplotlib"):
        import matplotlib as mpl  # noqa: PLC0415 (an extra, slow to import)
        from matplotlib.figure import Figure  # noqa: PLC0415
    drawn = _without_rare_pairs(graph).connected()
    file = io.BytesIO()
    # Characters that the font lacks are drawn as boxes; matplotlib would warn about each.
    with mpl.rc_context(_STYLE), warnings.catch_warnings(action="ignore"):
        figure = Figure(figsize=(10, 7.5), layout="constrained")
        axes = figure.add_subplot()
        axes.set_axis_off()
        if drawn.entities:
            _draw(axes, drawn)
        else:
            axes.text(0.5, 0.5, "no two entities are mentioned together", ha="center")
        metadata = {"png": {"Software": None}, "pdf": {"CreationDate": None}}
        figure.savefig(file, format=format, dpi=150, metadata=metadata.get(format, {"Date": None}))
    return file.getvalue()


def _without_rare_pairs(graph: CoMentions) -> CoMentions:
    """Return the graph of the first entities, with at most three lines per entity."""
    entities = graph.entities[:MAX_DRAWN]
    counts = {pair: count for pair, count in graph.counts.items() if pair[1] < len(entities)}
    kept = sorted(counts.items(), key=lambda item: -item[1])[: 3 * len(entities)]
    return CoMentions(entities, dict(sorted(kept)))


def _draw(axes: "Axes", graph: CoMentions) -> None:
    points = spring_layout(graph)
    colours = KindColours()
    mentions = np.array([row.mentions for row in graph.entities])
    sizes = 80 + 900 * mentions / mentions.max()
    most = max(graph.counts.values())
    for (a, b), count in graph.counts.items():
        axes.plot(*points[[a, b]].T, color="#8a8577", alpha=0.25 + 0.5 * count / most, zorder=1)
        axes.lines[-1].set_linewidth(0.6 + 4 * count / most)
    kinds = list(dict.fromkeys(row.kind for row in graph.entities))
    for kind in sorted(kinds, key=lambda kind: (kind is None, kind or "")):
        of_kind = [i for i, row in enumerate(graph.entities) if row.kind == kind]
        axes.scatter(
            points[of_kind, 0],
            points[of_kind, 1],
            s=sizes[of_kind],
            color=colours.colour(kind),
            edgecolors="#4a463d",
            linewidths=0.8,
            label=kind or "other",
            zorder=2,
        )
    for point, row, size in zip(points, graph.entities, sizes, strict=True):
        axes.annotate(
            _short(row.entity),
            point,
            xytext=(0, -3 - np.sqrt(size) / 2),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=8.5,
            parse_math=False,
            zorder=3,
        )
    axes.margins(0.12)
    if kinds != [None]:
        axes.legend(frameon=False, loc="upper left", ncols=4, markerscale=0.4)


def _short(name: str) -> str:
    return name if len(name) <= _MAX_LABEL else f"{name[: _MAX_LABEL - 1]}…"


def spring_layout(graph: CoMentions) -> Points:
    """Return a position for each entity; those mentioned together are close: (entities, 2).

    The method of Fruchterman and Reingold (1991), started on a circle: it is the same in every run.
    """
    count = len(graph.entities)
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    weights = np.zeros((count, count))
    most = max(graph.counts.values(), default=1)
    for (a, b), together in graph.counts.items():
        weights[a, b] = weights[b, a] = 0.3 + 0.7 * together / most
    ideal = 1.6 / np.sqrt(max(count, 1))
    for temperature in np.linspace(0.2, 0.002, _STEPS):
        difference = points[:, None] - points[None]  # (entities, entities, 2)
        distance = np.maximum(np.linalg.norm(difference, axis=2), 1e-3)
        force = ideal**2 / distance**2 - weights * distance / ideal
        step = (difference * force[..., None]).sum(axis=1) - 0.3 * points  # and towards the middle
        length = np.maximum(np.linalg.norm(step, axis=1, keepdims=True), 1e-9)
        points = points + step / length * np.minimum(length, temperature)
    return points
