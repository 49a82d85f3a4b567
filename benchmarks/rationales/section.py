"""The section of docs/results.md on rationales, from the JSON that their benchmark left."""

import json
from collections import defaultdict
from statistics import mean
from typing import Any

from benchmarks.rationales.rows import RESULTS, ROWS

Seeds = list[dict[str, Any]]
_FIGURES = (
    "selected",
    "accuracy_from_rationale",
    "accuracy_without",
    "sufficiency",
    "comprehensiveness",
)


def section() -> str:
    """Markdown; says what was not measured."""
    rows = results()
    parts = ["## Rationales for a labelled task", *_synthetic(rows), *_sources(rows)]
    missing = [name for name in ROWS if name not in rows]
    if missing:
        parts.append(f"Not measured: {'; '.join(missing)}.")
    return "\n\n".join(parts) + "\n"


def results() -> dict[str, Seeds]:
    """The results of each row, a seed each; those of a GPU where there are others too."""
    found: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
    for path in sorted(RESULTS.glob("*.json"), key=lambda path: "NVIDIA" in path.name):
        result = json.loads(path.read_text(encoding="utf-8"))
        found[result["row"]][result["seed"]] = result
    return {
        name: [found[name][seed] for seed in sorted(found[name])] for name in ROWS if found[name]
    }


def _synthetic(rows: dict[str, Seeds]) -> list[str]:
    mine = {name: seeds for name, seeds in rows.items() if name.startswith("synthetic")}
    parts = [
        "### A gold rationale that is exact",
        "Everyday words around a colour and an animal, which make one of four labels together: two "
        "words of about 17, and nothing else says anything. 800 texts to learn from, 200 to "
        "measure on, three seeds of texts, classifier and gates; ± is half the range of seeds. "
        "*Frozen* rows explain a classifier of whole texts, *joint* rows train it on. "
        "Gradient noise is that of the task's gradient in the weights of the gates where training "
        "starts, from 16 texts: its variance, its squared length, and their ratio, the number of "
        "draws that must be averaged until noise and signal are equal.",
    ]
    if not mine:
        return [*parts, "Not measured."]
    lines = [
        "| | token F1 | selected | accuracy: whole | rationale alone | without it "
        "| gradient variance | signal | ratio | s |",
        "|---" * 10 + "|",
    ]
    for name, seeds in mine.items():
        noise = [seed["gradient_at_start"] for seed in seeds]
        variance, signal = (mean(each[key] for each in noise) for key in ("variance", "signal"))
        cells = [
            _spread([seed["token"]["f1"] for seed in seeds]),
            _percent(seeds, "rationale"),
            *(
                _figure(seeds, "rationale", key)
                for key in ("accuracy", "accuracy_from_rationale", "accuracy_without")
            ),
            f"{variance:.3g}",
            f"{signal:.3g}",
            f"{variance / signal:.2g}" if signal > 0 else "noise alone",
            f"{mean(seed['seconds'] for seed in seeds):.0f}",
        ]
        label = name.removeprefix("synthetic ")
        lines.append(f"| {label}{_seeds(seeds)} | " + " | ".join(cells) + " |")
    return [*parts, "\n".join(lines), *_rivals_of(mine.get("synthetic stretched"))]


def _rivals_of(seeds: Seeds | None) -> list[str]:
    if not seeds:
        return []
    told = [
        f"{name}: {_figure(seeds, name, 'accuracy_from_rationale')} alone, "
        f"{_figure(seeds, name, 'accuracy_without')} without"
        for name in seeds[0]["figures"]
        if name != "rationale"
    ]
    return [f"With as many words in every text, accuracy of other choices: {'; '.join(told)}."]


def _sources(rows: dict[str, Seeds]) -> list[str]:
    mine = {name: seeds for name, seeds in rows.items() if name.startswith("sources")}
    parts = [
        "### Which source a sentence is from",
        "5,600 sentences of 8 to 24 words, as many from each of web pages, an encyclopedia, "
        "speeches and a novel; the 800 to measure on are from the last seventh of each. One "
        "classifier of whole texts, three seeds of gates; joint rows train it on. Sufficiency is "
        "the probability of the answer that is lost with the rationale alone (less is better), "
        "comprehensiveness what is lost without it (more is better). Other choices of words have "
        "as many in every text: random ones, those of the largest gradient × input, and integrated "
        "gradients (8 points), which read each text eight times and are told the answer, where "
        "gates read it once and are not.",
    ]
    if not mine:
        return [*parts, "Not measured."]
    lines = [
        "| | selected | accuracy: whole | rationale alone | without it | sufficiency "
        "| comprehensiveness | s |",
        "|---" * 8 + "|",
    ]
    for name, seeds in mine.items():
        for which in seeds[0]["figures"]:
            own = which == "rationale"
            label = name.removeprefix("sources ") + _seeds(seeds) if own else f"— {which}"
            cells = [
                _percent(seeds, which),
                _figure(seeds, which, "accuracy"),
                *(_figure(seeds, which, key) for key in _FIGURES[1:]),
                f"{mean(seed['seconds'] for seed in seeds):.0f}" if own else "",
            ]
            lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return [*parts, "\n".join(lines), *_examples(mine.get("sources stretched"))]


def _examples(seeds: Seeds | None) -> list[str]:
    if not seeds:
        return []
    shown = "\n".join(seeds[0]["examples"])
    return [
        "The first sentences of the test, with what the first seed selects:",
        f"```\n{shown}\n```",
    ]


def _figure(seeds: Seeds, which: str, key: str) -> str:
    return _spread([seed["figures"][which][key] for seed in seeds])


def _percent(seeds: Seeds, which: str) -> str:
    return f"{mean(seed['figures'][which]['selected'] for seed in seeds):.1%}"


def _spread(values: list[float]) -> str:
    half = (max(values) - min(values)) / 2
    return f"{mean(values):.3f} ± {half:.3f}" if len(values) > 1 else f"{values[0]:.3f}"


def _seeds(seeds: Seeds) -> str:
    return "" if len(seeds) == 3 else f" ({len(seeds)} seed{'s' * (len(seeds) != 1)})"


if __name__ == "__main__":
    print(section())
