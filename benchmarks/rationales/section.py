"""The section of docs/results.md on rationales, from the results of their benchmark."""

import json
from collections import defaultdict
from statistics import mean
from typing import Any

from benchmarks.rationales.rows import RESULTS, ROWS

Seeds = list[dict[str, Any]]
# How other choices of words are called in the JSON and here.
_OTHERS = {
    "random": "random words",
    "gradient": "gradient × input",
}
_FIGURES = (
    "selected",
    "accuracy_from_rationale",
    "accuracy_without",
    "sufficiency",
    "comprehensiveness",
)


def section() -> str:
    """Return the section as Markdown, including what was not measured."""
    rows = results()
    parts = ["## Rationales for a labelled task", *_synthetic(rows), *_sources(rows)]
    missing = [name for name in ROWS if name not in rows]
    if missing:
        parts.append(f"Not measured: {'; '.join(missing)}.")
    return "\n\n".join(parts) + "\n"


def results() -> dict[str, Seeds]:
    """Return the results of each row by seed; results of a GPU replace those of a CPU."""
    found: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
    for path in sorted(RESULTS.glob("*.json"), key=lambda path: "NVIDIA" in path.name):
        result = json.loads(path.read_text(encoding="utf-8"))
        found[result["row"]][result["seed"]] = result
    return {
        name: [found[name][seed] for seed in sorted(found[name])] for name in ROWS if found[name]
    }


def _synthetic(rows: dict[str, Seeds]) -> list[str]:
    own = {name: seeds for name, seeds in rows.items() if name.startswith("synthetic")}
    parts = [
        "### Synthetic task with an exact gold rationale",
        "`make bench-rationales`. Each text has a colour and an animal among random everyday "
        "words. These two of about 17 words together determine one of four labels; all other "
        "words are uninformative. 800 training texts, 200 test texts, three seeds of texts, "
        "classifier and gates; ± is half the range of seeds. *Joint* rows continue to train the "
        "classifier; all others explain a frozen classifier of whole texts. The gradient columns "
        "are measured before the first step, on 16 texts: the variance of the task gradient with "
        "respect to the weights of the gates, its squared norm (signal), and their ratio, which "
        "is the number of samples to average until noise and signal are equal.",
    ]
    if not own:
        return [*parts, "Not measured."]
    lines = [
        "| | token F1 | words selected | accuracy: whole text | rationale only | without rationale "
        "| gradient variance | signal | ratio | s |",
        "|---" * 10 + "|",
    ]
    for name, seeds in own.items():
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
            f"{variance / signal:.2g}" if signal > 0 else "no signal",
            f"{mean(seed['seconds'] for seed in seeds):.0f}",
        ]
        label = name.removeprefix("synthetic ")
        lines.append(f"| {label}{_seeds(seeds)} | " + " | ".join(cells) + " |")
    return [*parts, "\n".join(lines), *_references_of(own.get("synthetic stretched"))]


def _references_of(seeds: Seeds | None) -> list[str]:
    if not seeds:
        return []
    figures = [
        f"{_OTHERS.get(name, name)} {_figure(seeds, name, 'accuracy_from_rationale')} with only "
        f"the selected words, {_figure(seeds, name, 'accuracy_without')} without them"
        for name in seeds[0]["figures"]
        if name != "rationale"
    ]
    return [f"Accuracy if the same number of words is chosen differently: {'; '.join(figures)}."]


def _sources(rows: dict[str, Seeds]) -> list[str]:
    own = {name: seeds for name, seeds in rows.items() if name.startswith("sources")}
    parts = [
        "### Source of a sentence",
        "5,600 sentences of 8 to 24 words, the same number from web pages, an encyclopedia, "
        "speeches and a novel; the 800 test sentences are from the last seventh of each source. "
        "One classifier of whole texts, three seeds of gates; joint rows continue to train it. "
        "Sufficiency: how much the probability of the prediction falls with only the rationale "
        "(lower is better). Comprehensiveness: how much it falls without the rationale (higher "
        "is better). The rows with a dash choose the same number of words in every text "
        "differently: at random, by the largest gradient × input, or by integrated gradients (8 "
        "points), which run the classifier eight times per text and use its prediction; gates "
        "run once and do not.",
    ]
    if not own:
        return [*parts, "Not measured."]
    lines = [
        "| | words selected | accuracy: whole text | rationale only | without rationale "
        "| sufficiency | comprehensiveness | s |",
        "|---" * 8 + "|",
    ]
    for name, seeds in own.items():
        for which in seeds[0]["figures"]:
            is_ours = which == "rationale"
            label = (
                name.removeprefix("sources ") + _seeds(seeds)
                if is_ours
                else f"— {_OTHERS.get(which, which)}"
            )
            cells = [
                _percent(seeds, which),
                _figure(seeds, which, "accuracy"),
                *(_figure(seeds, which, key) for key in _FIGURES[1:]),
                f"{mean(seed['seconds'] for seed in seeds):.0f}" if is_ours else "",
            ]
            lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return [*parts, "\n".join(lines), *_examples(own.get("sources stretched"))]


def _examples(seeds: Seeds | None) -> list[str]:
    if not seeds:
        return []
    shown = "\n".join(seeds[0]["examples"])
    return [
        "The first test sentences, with the words that the first seed selects in brackets:",
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
