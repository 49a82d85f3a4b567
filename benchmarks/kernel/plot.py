"""Plot how time and memory of the fused margin loss grow.

python -m benchmarks.kernel.plot
"""

from typing import Any

from benchmarks.data import PICTURES
from benchmarks.kernel.section import result

PICTURE = PICTURES / "kernel-growth.svg"
TIME, MEMORY = "#1b6ca8", "#c44e52"


def draw() -> None:
    """Draw three panels: over positions, vocabulary and the fraction of survivors."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    measured = result("growth")
    if measured is None:
        print("not measured: make bench-kernel")
        return
    plt.rcParams["svg.hashsalt"] = "thresher"
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
    panels = {
        "positions": "positions",
        "vocabulary": "vocabulary",
        "survival": "mean fraction of survivors",
    }
    for axis, (name, label) in zip(axes, panels.items(), strict=True):
        _panel(axis, measured[name], label, by_fraction=name == "survival")
    axes[0].set_ylabel("forward + backward, ms", color=TIME)
    figure.savefig(PICTURE, metadata={"Date": None})


def _panel(axis: Any, points: list[dict[str, Any]], label: str, *, by_fraction: bool) -> None:
    values = [point["survival"]["mean"] if by_fraction else point["at"] for point in points]
    axis.plot(values, [point["total_ms"] for point in points], "o-", color=TIME)
    axis.set(xlabel=label, xscale="log")
    axis.set_xticks(values, [f"{each:.1%}" if by_fraction else f"{each:,}" for each in values])
    axis.tick_params(axis="x", which="major", labelsize=7, rotation=30)
    axis.minorticks_off()
    axis.set_ylim(0, None)
    axis.spines[["top"]].set_visible(False)
    memory = axis.twinx()
    memory.plot(values, [point["peak_mib"] for point in points], "s--", color=MEMORY)
    memory.set_ylim(0, None)
    memory.spines[["top"]].set_visible(False)
    memory.set_ylabel("peak, MiB", color=MEMORY)


if __name__ == "__main__":
    draw()
