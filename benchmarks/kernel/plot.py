"""The picture of how time and memory of the fused margin loss grow, from its JSON.

python -m benchmarks.kernel.plot
"""

from typing import Any

from benchmarks.data import ROOT
from benchmarks.kernel.section import result

PICTURE = ROOT / "docs" / "pictures" / "kernel-growth.svg"
TIME, MEMORY = "#1b6ca8", "#c44e52"


def draw() -> None:
    """Three panels: over positions, over the vocabulary, over the share that survives."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    measured = result("growth")
    if measured is None:
        print("not measured: make bench-kernel")
        return
    plt.rcParams["svg.hashsalt"] = "thresher"
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
    panels = {"positions": "positions", "vocabulary": "vocabulary", "survival": "mean share kept"}
    for axis, (name, label) in zip(axes, panels.items(), strict=True):
        _panel(axis, measured[name], label, by_share=name == "survival")
    axes[0].set_ylabel("forward + backward, ms", color=TIME)
    figure.savefig(PICTURE, metadata={"Date": None})


def _panel(axis: Any, points: list[dict[str, Any]], label: str, *, by_share: bool) -> None:
    places = [point["survival"]["mean"] if by_share else point["at"] for point in points]
    axis.plot(places, [point["total_ms"] for point in points], "o-", color=TIME)
    axis.set(xlabel=label, xscale="log")
    axis.set_xticks(places, [f"{place:.1%}" if by_share else f"{place:,}" for place in places])
    axis.tick_params(axis="x", which="major", labelsize=7, rotation=30)
    axis.minorticks_off()
    axis.set_ylim(0, None)
    axis.spines[["top"]].set_visible(False)
    memory = axis.twinx()
    memory.plot(places, [point["peak_mib"] for point in points], "s--", color=MEMORY)
    memory.set_ylim(0, None)
    memory.spines[["top"]].set_visible(False)
    memory.set_ylabel("peak, MiB", color=MEMORY)


if __name__ == "__main__":
    draw()
