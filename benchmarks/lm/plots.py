"""Plots of the language-model benchmarks."""

import math
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from benchmarks.lm.character_tables import ROLES, ranked
from benchmarks.lm.corpora import PAIRS
from benchmarks.lm.experiments import BIG_LIMIT, OUTPUT_LAYERS
from benchmarks.lm.rows import results
from benchmarks.lm.spread import Seeds, values
from benchmarks.lm.two_language_tables import PERPLEXITY, PUBLISHED, on_both

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = {"standard": "#444444", "margin 2": "#d95f0e", "margin 4": "#2166ac"}
PUBLISHED_MARKERS = "sv^<>dX"
ROLE_COLOURS = ("#2166ac", "#1b7837", "#d95f0e")
STYLE: dict[str, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.hashsalt": "thresher",  # makes the files reproducible
}


def draw(folder: Path) -> None:
    """Draw every plot that there are results for."""
    import matplotlib as mpl  # noqa: PLC0415 (an extra that is slow to import)

    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        for name, plot in PLOTS.items():
            figure = plot()
            if figure is not None:
                figure.savefig(folder / f"{name}.svg", metadata={"Date": None})


def shakespeare() -> "Figure | None":
    """Plot the validation loss of frequent and of rare characters during training."""
    found = results("shakespeare")
    rows = [row for row in COLOURS if row in found]
    chosen = [row for row in found if row not in COLOURS and len(found[row]) > 1]
    if not rows:
        return None
    figure, panels = _panels(3, 4.0)
    titles = {"validation_loss": "all", "ranks 1-10": "ranks 1–10", "ranks 41-50": "ranks 41–50"}
    for axes, (key, title) in zip(panels, titles.items(), strict=True):
        for row in rows + chosen:
            steps, losses = _curve(found[row], key)
            style = {"color": COLOURS[row]} if row in COLOURS else {"linestyle": "--"}
            axes.plot(steps, losses, label=row, linewidth=1.5, **style)
        axes.set(title=title, xlabel="step", ylabel="validation loss, nats")
    panels[0].legend(fontsize=7)
    return figure


def _curve(seeds: Seeds, key: str) -> tuple[list[float], list[float]]:
    logs = [each["log"] for each in seeds.values()]
    steps = [line["step"] for line in logs[0]]
    return steps, [mean(log[i][key] for log in logs) for i in range(len(steps))]


def roles() -> "Figure | None":
    """Plot the fraction of each role in the gradient norms of characters, by rank."""
    found = results("shakespeare")
    rows = [row for row in COLOURS if row in found]
    if not rows:
        return None
    figure, panels = _panels(len(rows), 4.0)
    for axes, row in zip(panels, rows, strict=True):
        fractions = [_role_fractions(each) for each in found[row].values()]
        heights = [[mean(column) for column in zip(*role, strict=True)] for role in zip(*fractions)]  # noqa: B905
        ranks = range(1, len(heights[0]) + 1)
        axes.stackplot(ranks, heights, colors=ROLE_COLOURS, labels=list(ROLES.values()), alpha=0.85)
        axes.set(title=row, xlim=(1, len(ranks)), ylim=(0, 1), xlabel="rank of the character")
    panels[0].set_ylabel("fraction of gradient norms")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=3)
    return figure


def _role_fractions(result: Any) -> list[list[float]]:
    order = ranked(result, 1, len(result["counts"]))
    sums = [sum(result["roles"][role][token] for role in ROLES) for token in order]
    return [
        [result["roles"][role][token] / total for token, total in zip(order, sums, strict=True)]
        for role in ROLES
    ]


def two_languages() -> "Figure | None":
    """Plot the perplexity of the small language against the big one, a point per seed."""
    found = results("two-languages")
    if not found:
        return None
    figure, (axes,) = _panels(1, 7.5, height=4.4)
    for number, (row, seeds) in enumerate(found.items()):
        points = [
            [on_both(each, text, PERPLEXITY) for text in ("big", "small")]
            for each in seeds.values()
        ]
        marker, colour = "o^"[number // 10 % 2], f"C{number}"
        axes.plot(*zip(*points, strict=True), marker, color=colour, label=row, markersize=5)
    for number, (row, (*_, small, _, big)) in enumerate(PUBLISHED.items()):
        if big:
            label = f"published: {row}"
            axes.plot(
                float(big), float(small), PUBLISHED_MARKERS[number], color="0.45", label=label
            )
    axes.axvline(BIG_LIMIT, color="0.8", linewidth=1, zorder=0)
    axes.set(xlabel="perplexity of the big language", ylabel="perplexity of the small language")
    figure.legend(fontsize=7, loc="outside right upper")
    return figure


def output_layers() -> "Figure | None":
    """Plot perplexity against tokens per second, a marker per output layer."""
    found = results("output-layers")
    speed = results("speed").get("output layers, GPU", {}).get(0)
    rows = [
        row
        for row in OUTPUT_LAYERS.rows
        if speed and row in found and row in speed["tokens_per_second"]
    ]
    if not (rows and speed):
        return None
    figure, (axes,) = _panels(1, 7.0)
    for number, row in enumerate(rows):
        perplexity = mean(values(found[row], lambda each: each["best"]["all"]["perplexity"]))
        at = speed["tokens_per_second"][row] / 1e6, perplexity
        axes.plot(*at, "o^"[number // 10 % 2], color=f"C{number}", label=row)
    axes.set(
        xlabel="million tokens per second, training on a GPU",
        ylabel="test perplexity",
        yscale="log",
    )
    axes.set_yticks((150, 200, 500, 1000, 2000, 5000))
    axes.yaxis.set_major_formatter("{x:.0f}")
    axes.yaxis.set_minor_formatter("")
    figure.legend(fontsize=7, loc="outside right upper")
    return figure


def classes() -> "Figure | None":
    """Plot the speed-up of classes next to the line √V / 2."""
    speeds = results("speed")
    found = {kind: speeds.get(f"classes, {kind}", {}).get(0) for kind in ("GPU", "CPU")}
    if not any(found.values()):
        return None
    figure, (axes,) = _panels(1, 5.0)
    for kind, measured in found.items():
        if measured:
            sizes = [int(size) for size in measured["vocabularies"]]
            ups = [each["speed_up"] for each in measured["vocabularies"].values()]
            axes.plot(sizes, ups, "o-", label=f"measured, {kind}")
    axes.plot(sizes, [math.sqrt(size) / 2 for size in sizes], "--", color="0.6", label="√V / 2")
    axes.set(
        xscale="log", yscale="log", xlabel="vocabulary", ylabel="speed-up over the full softmax"
    )
    axes.legend()
    return figure


def vocabularies() -> "Figure | None":
    """Plot bits per byte against Rényi efficiency, a point per seed."""
    found = results("vocabularies")
    if not found:
        return None
    figure, (axes,) = _panels(1, 5.0)
    for size in PAIRS:
        seeds = found.get(str(size), {})
        for each in seeds.values():
            axes.plot(
                each["efficiency"],
                each["best"]["all"]["bits_per_byte"],
                "o",
                color="#2166ac",
                markersize=4,
            )
        if seeds:
            at = (each["efficiency"], each["best"]["all"]["bits_per_byte"])
            axes.annotate(f"{size:,}", at, xytext=(6, 0), textcoords="offset points", fontsize=8)
    axes.set(xlabel="Rényi efficiency of the tokens", ylabel="test bits per byte")
    return figure


def _panels(count: int, width: float, height: float = 3.4) -> tuple["Figure", list[Any]]:
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(width * count, height), layout="constrained")
    return figure, list(figure.subplots(1, count, squeeze=False).flat)


PLOTS: dict[str, Callable[[], "Figure | None"]] = {
    "lm-shakespeare": shakespeare,
    "lm-roles": roles,
    "lm-two-languages": two_languages,
    "lm-output-layers": output_layers,
    "lm-classes": classes,
    "lm-vocabularies": vocabularies,
}
