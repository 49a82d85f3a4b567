"""The section of docs/results.md on kinds, and the plot of docs/kinds.md."""

import json
from typing import Any

from benchmarks.data import ALL_RESULTS, PICTURES
from benchmarks.kinds.data import DOMAINS

RESULT = ALL_RESULTS / "kinds" / "report.json"
TITLES = {
    "wikigold": "Wikigold report, 4 kinds",
    "ewt": "EWT dev, 3",
    "wnut17": "WNUT-17 dev, 6",
    "bc5cdr": "BC5CDR dev, 2",
    "crossner": "CrossNER dev, five domains, 9–17",
}
GOALS = {
    "wikigold": ".66 / .60",
    "ewt": ".69 / .67",
    "wnut17": ".42 / .40",
    "bc5cdr": ".56 / .56",
    "crossner": ".45 / .40",
}
_CROSSNER = tuple(f"crossner-{domain}" for domain in DOMAINS)


def section() -> str:
    """Return the section as Markdown, and draw the curve over the number of examples."""
    if not RESULT.exists():
        return "## Kinds\n\nNot measured: `make bench-kinds`.\n"
    results = json.loads(RESULT.read_text(encoding="utf-8"))
    parts = [_typed(results["typed"], results.get("peers", {}))]
    if "discovered" in results:
        parts.append(_discovered(results["discovered"]))
    if "curve" in results:
        parts.append(_curve(results["curve"]))
        draw_curve(results["curve"])
    if "speed" in results:
        parts.append(_speed(results["speed"]))
    return "\n".join(parts)


def _typed(typed: dict[str, Any], peers: dict[str, Any]) -> str:
    sets = list(TITLES)
    rows = [
        ["**examples, label-free**", *(_ours(typed, name) for name in sets)],
        ["spaCy en_core_web_sm, supervised", *(_peer(peers, name, "sm") for name in sets)],
        ["spaCy en_core_web_md, supervised", *(_peer(peers, name, "md") for name in sets)],
        ["goal", *(GOALS[name] for name in sets)],
        ["untyped F1 of the same spans", *(_ours(typed, name, "untyped") for name in sets)],
    ]
    header = ["", *(TITLES[name] for name in sets)]
    seeds = max(map(len, typed.values()))
    domains = "; ".join(
        f"{name.removeprefix('crossner-')} {_ours(typed, name)}"
        for name in _CROSSNER
        if name in typed
    )
    return (
        "## Kinds\n\n`make bench-kinds`; typed exact span F1, cased / lower-cased; where "
        f"gates were trained, the mean of {seeds} seed(s), and in brackets the distance from the "
        "smallest to the largest of them. The example names are of common knowledge. Those of the "
        "built-in kinds (Wikigold, EWT) were in part written after wrong kinds on Wikigold's tune "
        "split had been read, all others before the sets were looked at; settings were chosen on "
        "the tune splits. For BC5CDR and CrossNER, kind gates were trained on the words of the "
        "tune split.\n\n"
        + _table(header, rows)
        + (f"\nCrossNER by domain: {domains}.\n" if domains else "")
    )


def _ours(typed: dict[str, Any], name: str, figure: str = "typed") -> str:
    """Return cased / lower-cased means of the seeds, with their range."""
    names = _CROSSNER if name == "crossner" else (name,)
    if not all(each in typed for each in names):
        return "not measured"
    cells = []
    for case in ("cased", "lower"):
        by_seed = zip(*(typed[each] for each in names), strict=True)
        values = [sum(run[case][figure] for run in runs) / len(runs) for runs in by_seed]
        spread = f" [{_short(max(values) - min(values))}]" if len(values) > 1 else ""
        cells.append(f"{_short(sum(values) / len(values))}{spread}")
    return " / ".join(cells)


def _peer(peers: dict[str, Any], name: str, size: str) -> str:
    figures = peers.get(name, {}).get(f"en_core_web_{size}")
    if figures is None:
        return "–"
    return " / ".join(_short(figures[case]["typed"]) for case in ("cased", "lower"))


def _discovered(discovered: dict[str, Any]) -> str:
    rows = []
    for name, runs in discovered.items():
        cells = [name, f"{runs[0]['discovered']['groups']}"]
        for row in ("discovered", "last layer"):
            for figure in ("v_measure", "purity"):
                values = [run[row][figure] for run in runs]
                cells.append(_short(sum(values) / len(values)))
        rows.append(cells)
    header = ["", "groups", "V-measure", "purity", "last layer: V-measure", "purity"]
    return (
        "### Discovered kinds\n\nGold spans, grouped by `thresher kinds` with the number of groups "
        "that it chooses, and by k-means with the same number on vectors of the last layer.\n\n"
        + _table(header, rows)
    )


def _curve(curve: dict[str, Any]) -> str:
    numbers = list(next(iter(curve.values())))
    rows = [
        [name, *(_short(sum(values) / len(values)) for values in by_number.values())]
        for name, by_number in curve.items()
    ]
    return (
        "### Number of examples\n\nAccuracy of kinds on gold spans by the number of names of each "
        "kind, mean of three random draws; an entity without a kind counts as wrong.\n\n"
        + _table(["", *numbers], rows)
    )


def draw_curve(curve: dict[str, Any]) -> None:
    """Draw the accuracy by the number of examples."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    for name, by_number in curve.items():
        numbers = list(map(int, by_number))
        means = [sum(values) / len(values) for values in by_number.values()]
        (line,) = axes.plot(numbers, means, marker="o", label=name)
        low, high = ([f(values) for values in by_number.values()] for f in (min, max))
        axes.fill_between(numbers, low, high, alpha=0.15, color=line.get_color())
    axes.set_xscale("log")
    axes.set_xticks(numbers, list(map(str, numbers)))
    axes.minorticks_off()
    axes.set_xlabel("example names of each kind")
    axes.set_ylabel("accuracy on gold spans")
    axes.legend(frameon=False)
    figure.savefig(PICTURES / "kinds-examples.svg", metadata={"Date": None})


def _speed(speed: dict[str, Any]) -> str:
    times = "; ".join(
        f"{name} × {each['ratio']:.2f} ({each['least']:.2f} to {each['most']:.2f})"
        for name, each in speed.items()
    )
    return (
        "### Time\n\nProcessor time of `find` with kinds, divided by that without, median of "
        f"interleaved runs: {times}.\n"
    )


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")
