"""Write docs/results.md, and the pictures in it, from the JSON that benchmarks left.

python -m benchmarks.write_results
"""

import json
import re
from collections import defaultdict
from statistics import mean, stdev
from typing import Any

from benchmarks import (
    kernel_section,
    languages_section,
    lm_section,
    rationales_section,
    serve_section,
    speed_section,
    switches_section,
)
from benchmarks.data import ROOT
from benchmarks.english import SETS
from benchmarks.entities import RESULTS
from benchmarks.train import BUILT_IN, TIMES, folder_name
from thresher.entities.model import FinderModel
from thresher.entities.priors.word_lists import ENGLISH_NOT_NAMES

DOCS = ROOT / "docs"
GOALS = {
    "wnut17": (0.60, 0.55),
    "ewt": (0.72, 0.64),
    "bc5cdr": (0.50, 0.48),
    "wikigold": (0.80, 0.70),
}
CASES = ("cased", "lower")


def entity_table(results: dict[str, Any]) -> list[str]:
    """Span F1, cased / lower-cased, a row per finder and peer."""
    sets = [name for name in SETS if name in next(iter(results["peers"].values()))]
    lines = [
        "| | " + " | ".join(_title(name, results["split"]) for name in sets) + " |",
        "|---" * (len(sets) + 1) + "|",
    ]
    for row, seeds in by_row(results["finders"]).items():
        cells = [" / ".join(_spread(seeds, name, case) for case in CASES) for name in sets]
        label = f"Thresher, {row}" if row != BUILT_IN else "**Thresher, built-in model**"
        lines.append(f"| {label} ({_seeds(len(seeds))}) | " + " | ".join(cells) + " |")
    for row, figures in results["peers"].items():
        cells = [
            " / ".join(f"{figures[name][case]['span_f1']:.3f}" for case in CASES) for name in sets
        ]
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    if results["split"] == "report":
        goals = [" / ".join(f"{goal:.2f}" for goal in GOALS[name]) for name in sets]
        lines.append("| *goal* | " + " | ".join(goals) + " |")
    return lines


def _fast_row() -> str:
    found = json.loads((RESULTS / "speed" / "distilled.json").read_text(encoding="utf-8"))
    cells = [" / ".join(f"{value:.3f}" for value in found["f1_of_all"][name]) for name in SETS]
    return "| Thresher, fast-english (1 seed) | " + " | ".join(cells) + " |"


def write_readme_table(results: dict[str, Any]) -> None:
    """The rows of the README: ours, the fast one, ours without word lists, spaCy's, capitals."""
    table = entity_table(results)
    rows = r"\| (\*\*Thresher|Thresher, no word list|spaCy|capitalised)"
    kept = [line for line in table[2:] if re.match(rows, line)]
    kept.insert(1, _fast_row())
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    body = "\n".join([*table[:2], *kept])
    text = re.sub(r"(?s)(<!-- figures -->\n).*(\n<!-- /figures -->)", rf"\g<1>{body}\g<2>", text)
    readme.write_text(text, encoding="utf-8")


def word_table(results: dict[str, Any]) -> list[str]:
    """Word figures and calibration of the built-in model."""
    lines = [
        "| | word AP | word F1 | span precision | span recall | calibration error |",
        "|---|---|---|---|---|---|",
    ]
    seeds = by_row(results["finders"])[BUILT_IN]
    for name, title in SETS.items():
        if name not in seeds[0]:
            continue
        for case in CASES:
            cells = [
                f"{mean(seed[name][case][key] for seed in seeds):.3f}"
                for key in (
                    "word_ap",
                    "word_f1",
                    "span_precision",
                    "span_recall",
                    "calibration_error",
                )
            ]
            lines.append(f"| {title}, {case} | " + " | ".join(cells) + " |")
    return lines


SHARES = {"no contrast": "0", "default": ".1", "more contrast": ".5"}


def share_table(results: dict[str, Any]) -> list[str]:
    """Word AP, as given, against the share of batches that are contrasted."""
    lines = [
        "| share | " + " | ".join(SETS.values()) + " |",
        "|---" * (len(SETS) + 1) + "|",
    ]
    rows = by_row(results["finders"])
    for row, share in SHARES.items():
        cells = [
            f"{mean(seed[name]['cased']['word_ap'] for seed in rows[row]):.3f}" for name in SETS
        ]
        lines.append(f"| {share} | " + " | ".join(cells) + " |")
    return lines


def missed_goals(results: dict[str, Any]) -> str:
    """Which goals the built-in model does not reach, and by how much."""
    seeds = by_row(results["finders"])[BUILT_IN]
    gaps = []
    for name, goals in GOALS.items():
        for case, goal in zip(CASES, goals, strict=True):
            reached = mean(seed[name][case]["span_f1"] for seed in seeds)
            if round(reached, 3) < goal:
                gaps.append(f"{SETS[name]} {case} by {goal - reached:.3f}")
    if not gaps:
        return "Every goal is reached."
    return f"Of {2 * len(GOALS)} goals {len(gaps)} missed: {', '.join(gaps)}."


def training_times() -> str:
    """How long the finders took to train, by row."""
    rows: defaultdict[str, list[float]] = defaultdict(list)
    for path in sorted(TIMES.glob("*.json")):
        made = json.loads(path.read_text(encoding="utf-8"))
        rows[re.sub(r"-\d+$", "", path.stem).replace("-", " ")].append(made["seconds"])
    spans = ", ".join(f"{row} {min(each):.0f}–{max(each):.0f} s" for row, each in rows.items())
    return (
        f"Training on {made['sentences']:,} sentences ({made['words']:,} words) on one "
        f"{made['device']}, five rows side by side (`make models`): {spans}."
    )


def draw_reliability(results: dict[str, Any]) -> None:
    """Score against the share of candidates that are right, a line per set."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    plt.rcParams["svg.hashsalt"] = "thresher"
    built_in = folder_name(BUILT_IN, 0)
    figure, axes = plt.subplots(1, 2, figsize=(8, 4), sharey=True, layout="constrained")
    for axis, case in zip(axes, CASES, strict=True):
        axis.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        for name, title in SETS.items():
            bins = [b for b in results["finders"][built_in][name][case]["bins"] if b[0] >= 20]
            axis.plot([b[1] for b in bins], [b[2] for b in bins], marker="o", label=title)
        axis.set(title="as given" if case == "cased" else "lower-cased", xlabel="score")
    axes[0].set(ylabel="share that are exactly entities", xlim=(0, 1), ylim=(0, 1))
    axes[0].legend(frameon=False)
    figure.savefig(DOCS / "pictures" / "reliability.svg", metadata={"Date": None})
    plt.close(figure)


def largest_expected_f1() -> tuple[str, float]:
    """The row an unsupervised criterion chooses: thresholds are half of the expected F1."""
    models = {
        path.name.removesuffix("-0"): FinderModel.read(path).threshold
        for path in (ROOT / "benchmarks" / "models").glob("*-0")
    }
    best = max(models, key=lambda name: models[name])
    return f"Thresher, {best.replace('-', ' ')}", 2 * models[best]


def by_row(finders: dict[str, Any]) -> dict[str, list[Any]]:
    """Finders named row-seed, grouped by row; the built-in one first, then the default."""
    rows: defaultdict[str, list[Any]] = defaultdict(list)
    for name, figures in sorted(finders.items()):
        rows[re.sub(r"-\d+$", "", name).replace("-", " ")].append(figures)
    first = [row for row in (BUILT_IN, "default") if row in rows]
    return {row: rows[row] for row in dict.fromkeys([*first, *rows])}


def _title(name: str, split: str) -> str:
    return SETS[name] if split == "report" else SETS[name].replace("dev", "train") + " (tune)"


def _spread(seeds: list[Any], name: str, case: str) -> str:
    values = [seed[name][case]["span_f1"] for seed in seeds]
    return f"{mean(values):.3f}" + (f"±{stdev(values):.3f}" if len(values) > 1 else "")


def _seeds(count: int) -> str:
    return "one seed" if count == 1 else f"{count} seeds"


def main() -> None:
    report = json.loads((RESULTS / "entities-report.json").read_text(encoding="utf-8"))
    tune = json.loads((RESULTS / "entities-tune.json").read_text(encoding="utf-8"))
    draw_reliability(report)
    template = (ROOT / "benchmarks" / "results.md").read_text(encoding="utf-8")
    unsupervised, expected_f1 = largest_expected_f1()
    text = template.format(
        entities="\n".join(entity_table(report)),
        words="\n".join(word_table(report)),
        tune="\n".join(entity_table(tune)),
        shares="\n".join(share_table(report)),
        unsupervised=unsupervised,
        expected_f1=expected_f1,
        not_names=len(ENGLISH_NOT_NAMES),
        missed=missed_goals(report),
        training=training_times(),
    )
    sections = (
        speed_section,
        serve_section,
        switches_section,
        languages_section,
        rationales_section,
        lm_section,
        kernel_section,
    )
    pages = [text, *(each.section() for each in sections)]
    (DOCS / "results.md").write_text("\n".join(pages), encoding="utf-8")
    write_readme_table(report)


if __name__ == "__main__":
    main()
