"""The section of docs/results.md on entity quality, and the tables of the README."""

import json
import re
from collections import defaultdict
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from benchmarks.data import ALL_RESULTS, ROOT
from benchmarks.entities.build_english import SETS
from benchmarks.entities.parts import PATH as PARTS
from benchmarks.entities.train import TIMES
from thresher.entities.built_in import ENGLISH, NAMES
from thresher.entities.priors.word_lists import ENGLISH_NOT_NAMES

GOALS = {
    "wnut17": (0.68, 0.65),
    "ewt": (0.72, 0.69),
    "bc5cdr": (0.56, 0.57),
    "wikigold": (0.84, 0.78),
    "crossner": (0.70, 0.64),
}
CASES = ("cased", "lower")
# The sets of the summary in the README, by what they contain.
_TEXTS = {
    "wikigold": "encyclopedia (Wikigold)",
    "ewt": "web (EWT)",
    "wnut17": "social media (WNUT-17)",
    "crossner": "five domains (CrossNER)",
    "bc5cdr": "medicine (BC5CDR)",
}
CONTRAST_FRACTIONS = {"no contrast": "0", "default": ".1", "more contrast": ".5"}
WORD_FIGURES = ("word_ap", "word_f1", "span_precision", "span_recall", "calibration_error")

Results = dict[str, Any]


def section() -> str:
    """Return the section as Markdown and draw its reliability diagram."""
    report, tune = results("report"), results("tune")
    draw_reliability(report)
    row, expected_f1 = row_with_largest_expected_f1()
    template = Path(__file__).with_name("section.md").read_text(encoding="utf-8")
    return template.format(
        entities="\n".join(entity_table(report)),
        words="\n".join(word_table(report)),
        tune="\n".join(entity_table(tune)),
        parts="\n".join(parts_table()),
        contrast="\n".join(contrast_table(report)),
        unsupervised=f"Thresher, {row}",
        expected_f1=expected_f1,
        not_names=len(ENGLISH_NOT_NAMES),
        missed=missed_goals(report),
        training=training_times(),
    )


def results(split: str) -> Results:
    """Return what `python -m benchmarks.entities --split …` measured."""
    path = ALL_RESULTS / "entities" / f"{split}.json"
    found: Results = json.loads(path.read_text(encoding="utf-8"))
    return found


def entity_table(measured: Results) -> list[str]:
    """Return the lines of a table: span F1, cased / lower-cased, one row per finder and peer."""
    sets = [name for name in SETS if name in next(iter(measured["peers"].values()))]
    lines = [
        "| | " + " | ".join(_title(name, measured["split"]) for name in sets) + " |",
        "|---" * (len(sets) + 1) + "|",
    ]
    for row, seeds in by_row(measured["finders"]).items():
        cells = [
            " / ".join(_mean_and_deviation(seeds, name, case) for case in CASES) for name in sets
        ]
        label = f"Thresher, {row}" if row != ENGLISH else "**Thresher, built-in model**"
        earlier = seeds[0].get("measured_before")
        if earlier:
            label += f", {'version 0.2' if earlier is True else earlier}"
        lines.append(f"| {label} ({_seeds(len(seeds))}) | " + " | ".join(cells) + " |")
    for row, figures in measured["peers"].items():
        cells = [
            " / ".join(f"{figures[name][case]['span_f1']:.3f}" for case in CASES) for name in sets
        ]
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    if measured["split"] == "report":
        goals = [" / ".join(f"{goal:.2f}" for goal in GOALS[name]) for name in sets]
        lines.append("| *goal* | " + " | ".join(goals) + " |")
    return lines


def write_readme_tables() -> None:
    """Write a summary and the most important rows of the report splits into the README."""
    report = results("report")
    table = entity_table(report)
    shown = r"english\+|only kinds|no word|repetition und|small|fast"
    pattern = rf"\| (\*\*Thresher|Thresher, ({shown})|spaCy|capitalised)"
    rows = [line for line in table[2:] if re.match(pattern, line)]
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    for name, lines in {"summary": summary_table(report), "figures": [*table[:2], *rows]}.items():
        body = "\n".join(lines)
        block = rf"(?s)(<!-- {name} -->\n).*(\n<!-- /{name} -->)"
        text = re.sub(block, rf"\g<1>{body}\g<2>", text)
    readme.write_text(text, encoding="utf-8")


def summary_table(measured: Results) -> list[str]:
    """Return the lines of a table: span F1 of the built-in model and of spaCy's models."""
    peers = {name: [each] for name, each in measured["peers"].items() if name.startswith("spaCy")}
    rows = {"**Thresher**, no labels": by_row(measured["finders"])[ENGLISH]}
    rows |= {f"{name}, supervised": seeds for name, seeds in peers.items()}
    lines = ["| | " + " | ".join(_TEXTS.values()) + " |", "|---" * (len(_TEXTS) + 1) + "|"]
    for label, seeds in rows.items():
        cells = [" / ".join(_mean_f1(seeds, name, case) for case in CASES) for name in _TEXTS]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return lines


def _mean_f1(seeds: list[Results], name: str, case: str) -> str:
    return f"{mean(seed[name][case]['span_f1'] for seed in seeds):.2f}"


def word_table(measured: Results) -> list[str]:
    """Return the lines of a table: word figures and calibration of the built-in model."""
    lines = [
        "| | word AP | word F1 | span precision | span recall | calibration error |",
        "|---|---|---|---|---|---|",
    ]
    seeds = by_row(measured["finders"])[ENGLISH]
    for name, title in SETS.items():
        if name not in seeds[0]:
            continue
        for case in CASES:
            cells = [f"{mean(seed[name][case][key] for seed in seeds):.3f}" for key in WORD_FIGURES]
            lines.append(f"| {title}, {case} | " + " | ".join(cells) + " |")
    return lines


def contrast_table(measured: Results) -> list[str]:
    """Return the lines of a table: word AP, cased, by the fraction of batches with contrast."""
    lines = [
        "| fraction | " + " | ".join(list(SETS.values())[:4]) + " |",
        "|---" * 5 + "|",
    ]
    rows = by_row(measured["finders"])
    for row, fraction in CONTRAST_FRACTIONS.items():
        cells = [
            f"{mean(seed[name]['cased']['word_ap'] for seed in rows[row]):.3f}"
            for name in SETS
            if name in rows[row][0]
        ]
        lines.append(f"| {fraction} | " + " | ".join(cells) + " |")
    return lines


def parts_table() -> list[str]:
    """Return the lines of a table: span F1 on the tune splits, with a part of finding left out."""
    rows = json.loads(PARTS.read_text(encoding="utf-8"))
    sets = list(next(iter(rows.values())))
    lines = [
        "| | " + " | ".join(_title(name, "tune") for name in sets) + " |",
        "|---" * (len(sets) + 1) + "|",
    ]
    for label, figures in rows.items():
        cells = [" / ".join(f"{figures[name][case]:.3f}" for case in CASES) for name in sets]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return lines


def missed_goals(measured: Results) -> str:
    """Return a sentence: which goals the built-in model misses, and by how much."""
    seeds = by_row(measured["finders"])[ENGLISH]
    gaps = []
    for name, goals in GOALS.items():
        for case, goal in zip(CASES, goals, strict=True):
            reached = mean(seed[name][case]["span_f1"] for seed in seeds)
            if round(reached, 3) < goal:
                gaps.append(f"{SETS[name]} {case} by {goal - reached:.3f}")
    if not gaps:
        return "All goals are reached."
    return f"{len(gaps)} of {2 * len(GOALS)} goals missed: {', '.join(gaps)}."


def training_times() -> str:
    """Return a sentence for each device: how long the finders of each row took to train."""
    rows: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted(TIMES.glob("*.json")):
        training = json.loads(path.read_text(encoding="utf-8"))
        rows[training["device"]][_row_of(path.stem)].append(training["seconds"])
    ranges = {
        device: ", ".join(f"{row} {min(each):.0f}–{max(each):.0f} s" for row, each in own.items())
        for device, own in rows.items()
    }
    return (
        f"Training on {training['sentences']:,} sentences ({training['words']:,} words) with "
        "`make models`, wall-clock time of several rows at once, or of one thread of a busy CPU: "
        + "; ".join(f"{device}: {each}" for device, each in sorted(ranges.items()))
        + "."
    )


def draw_reliability(measured: Results) -> None:
    """Draw the score of a candidate against the fraction that is correct, one line per set."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    plt.rcParams["svg.hashsalt"] = "thresher"
    figure, axes = plt.subplots(1, 2, figsize=(8, 4), sharey=True, layout="constrained")
    for axis, case in zip(axes, CASES, strict=True):
        axis.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        for name, title in SETS.items():
            bins = [b for b in measured["finders"][ENGLISH][name][case]["bins"] if b[0] >= 20]
            axis.plot([b[1] for b in bins], [b[2] for b in bins], marker="o", label=title)
        axis.set(title="cased" if case == "cased" else "lower-cased", xlabel="score")
    axes[0].set(ylabel="fraction that are exactly entities", xlim=(0, 1), ylim=(0, 1))
    axes[0].legend(frameon=False)
    figure.savefig(ROOT / "docs" / "pictures" / "reliability.svg", metadata={"Date": None})
    plt.close(figure)


def row_with_largest_expected_f1() -> tuple[str, float]:
    """Return the row that an unsupervised criterion selects, and its expected F1.

    The threshold that maximizes expected F1 is half of that F1, so twice the threshold estimates
    it without labels. Only seed 0 of each row is compared.
    """
    thresholds = {
        _row_of(path.stem): json.loads(path.read_text(encoding="utf-8"))["threshold"]
        for path in TIMES.glob("*-0.json")
    }
    best = max(thresholds, key=lambda row: thresholds[row])
    return best, 2 * thresholds[best]


def by_row(finders: Results) -> dict[str, list[Any]]:
    """Group finders named row-seed by row: the built-in one first, then the default."""
    rows: defaultdict[str, list[Any]] = defaultdict(list)
    for name, figures in sorted(finders.items()):
        rows[_row_of(name)].append(figures)
    first = [row for row in (ENGLISH, "default") if row in rows]
    return {row: rows[row] for row in dict.fromkeys([*first, *rows])}


def _row_of(folder: str) -> str:
    return folder if folder in NAMES else re.sub(r"-\d+$", "", folder).replace("-", " ")


def _title(name: str, split: str) -> str:
    return SETS[name] if split == "report" else SETS[name].replace("dev", "train") + " (tune)"


def _mean_and_deviation(seeds: list[Any], name: str, case: str) -> str:
    values = [seed[name][case]["span_f1"] for seed in seeds if name in seed]
    if not values:
        return "–"
    return f"{mean(values):.3f}" + (f"±{stdev(values):.3f}" if len(values) > 1 else "")


def _seeds(count: int) -> str:
    return "one seed" if count == 1 else f"{count} seeds"


if __name__ == "__main__":
    print(section())
