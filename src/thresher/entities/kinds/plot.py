"""Plot the map of the entities of a corpus, coloured by discovered kind."""

import io
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from thresher.entities.kinds.discovery import DiscoveredKinds
from thresher.errors import requires_extra
from thresher.text.word_joining import join_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABELS_PER_KIND = 4
_STYLE: dict[Any, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.hashsalt": "thresher",  # makes the files reproducible
}


def draw_map(kinds: DiscoveredKinds, *, format: str = "svg") -> bytes:  # noqa: A002 (matplotlib's)
    """Return a picture with a point for each name, and the typical names of each kind."""
    with requires_extra("plots", "plots need matplotlib"):
        import matplotlib as mpl  # noqa: PLC0415 (an extra, slow to import)
        from matplotlib.figure import Figure  # noqa: PLC0415
    # Characters that the font lacks are drawn as boxes; matplotlib would warn about each.
    with mpl.rc_context(_STYLE), warnings.catch_warnings(action="ignore"):
        figure = Figure(figsize=(9, 6.5), layout="constrained")
        axes = figure.add_subplot()
        colours = mpl.colormaps["tab20"].colors  # type: ignore[attr-defined]
        for number in range(len(kinds.kinds)):
            _draw_kind(axes, kinds, number, colours[(2 * number) % 20 + (number >= 10)])
        axes.set_xlabel("first principal component of the names and their contexts")
        axes.set_ylabel("second principal component")
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), markerscale=2)
        content = io.BytesIO()
        figure.savefig(content, format=format, dpi=150, metadata=_metadata(format))
    return content.getvalue()


def _draw_kind(axes: "Axes", kinds: DiscoveredKinds, number: int, colour: Any) -> None:
    own = np.flatnonzero(kinds.labels == number)
    x, y = kinds.points[own].T
    axes.scatter(x, y, s=9, color=colour, alpha=0.6, linewidths=0, label=f"{kinds.kinds[number]}")
    for index in kinds.typical_indices(number, _LABELS_PER_KIND):
        name = join_words(kinds.names[index]).replace("$", r"\$")
        axes.annotate(name, kinds.points[index], fontsize=7, color=colour, alpha=0.95)


def _metadata(format_: str) -> dict[str, None]:
    """Return metadata that keep the date out of the file, so that it is reproducible."""
    return {"Date": None} if format_ == "svg" else {}
