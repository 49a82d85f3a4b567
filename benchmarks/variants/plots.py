"""Plot the results of the variant benchmark: curves, bars, and the gates of an example.

python -m benchmarks.variants.plots
"""

from typing import Any

from benchmarks.data import PICTURES
from benchmarks.variants.measure import RECALLS
from benchmarks.variants.results import SPAN, RowResults, results_of
from benchmarks.variants.rows import BASELINES, ROWS
from benchmarks.variants.section import TITLES

CURVES = ("default", "align 2", "pooled gates", "no prior", *BASELINES)
COLOURS = ("#1b6ca8", "#c44e52", "#55a868", "#8172b2", "#ccb974", "#64b5cd", "#8c564b", "0.5")


def draw_curves(rows: dict[str, RowResults]) -> None:
    """Draw word precision over recall of the first seed, one panel per set."""
    sets = list(rows["default"].seeds[0]["sets"])
    figure, axes = _plt().subplots(
        1, len(sets), figsize=(4 * len(sets), 4), sharey=True, layout="constrained"
    )
    for axis, name in zip(axes, sets, strict=True):
        for number, row in enumerate(each for each in CURVES if each in rows):
            seed = rows[row].seeds[0]
            axis.plot(
                RECALLS,
                seed["sets"][name]["cased"]["precision_at_recalls"],
                label=row,
                color=COLOURS[number % len(COLOURS)],
                linewidth=2 if row == "default" else 1.2,
                linestyle="--" if row in BASELINES else "-",
            )
        axis.set(title=TITLES[name], xlabel="recall of words", xlim=(0, 1), ylim=(0, 1))
    axes[0].set_ylabel("precision")
    lines, labels = axes[0].get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside lower center", ncols=5, frameon=False, fontsize=8)
    _save(figure, "variants-curves")


def draw_bars(rows: dict[str, RowResults]) -> None:
    """Draw the mean span F1 of each row, a dot per seed, and the default as a line."""
    shown = {name: row for name, row in rows.items() if name in ROWS or name in BASELINES}
    figure, axis = _plt().subplots(figsize=(8, 0.28 * len(shown) + 1), layout="constrained")
    for position, (name, row) in enumerate(shown.items()):
        value = row.overall(SPAN)
        colour = "0.75" if name in BASELINES else "#1b6ca8" if name == "default" else "#9ec3e0"
        axis.barh(position, value.mean, color=colour)
        axis.plot(value.values, [position] * len(value.values), ".", color="0.2", markersize=4)
    axis.axvline(rows["default"].overall(SPAN).mean, color="0.3", linewidth=0.8)
    axis.set_yticks(range(len(shown)), list(shown))
    axis.set_ylim(len(shown) - 0.4, -0.6)
    axis.set_xlabel("span F1, mean over tune sets, cased and lower-cased")
    _save(figure, "variants-bars")


def draw_example(rows: dict[str, RowResults]) -> None:
    """Draw the gates of a sentence, one strip per selector of some rows."""
    words: list[str] = []
    strips: list[tuple[str, list[float]]] = []
    for name in ("default", "pooled gates", "no prior", "align 2", "repel 2", "repel 3"):
        if name not in rows:
            continue
        example = rows[name].seeds[0]["example"]
        words = example["words"]
        several = len(example["gates"]) > 1
        for number, gates in enumerate(example["gates"], start=1):
            strips.append((f"{name}, selector {number}" if several else name, gates))
    figure, axis = _plt().subplots(figsize=(9, 0.35 * len(strips) + 1.2), layout="constrained")
    image = axis.imshow([gates for _, gates in strips], cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axis.set_xticks(range(len(words)), words, rotation=45, ha="right")
    axis.set_yticks(range(len(strips)), [label for label, _ in strips])
    figure.colorbar(image, label="P(open)")
    _save(figure, "variants-example")


def _plt() -> Any:
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("svg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    plt.rcParams["svg.hashsalt"] = "thresher"
    return plt


def _save(figure: Any, name: str) -> None:
    figure.savefig(PICTURES / f"{name}.svg", metadata={"Date": None})
    _plt().close(figure)
    print(f"drew docs/pictures/{name}.svg")


def main() -> None:
    rows = results_of("tune")
    if "default" not in rows:
        raise SystemExit("no results of the default row; run python -m benchmarks.variants first")
    draw_curves(rows)
    draw_bars(rows)
    draw_example(rows)


if __name__ == "__main__":
    main()
