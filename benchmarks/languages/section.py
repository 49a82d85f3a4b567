"""The section of docs/results.md on languages without a pretrained encoder."""

import json
from statistics import mean, stdev
from typing import Any

from benchmarks.languages.data import LANGUAGES, NAMES
from benchmarks.languages.rows import RESULTS, ROWS, WITH_CAPITALS, WITHOUT_CAPITALS

GOALS = {
    "cased": {"swa": 0.80, "yor": 0.70, "hau": 0.72, "ibo": 0.80},
    "lower": {"swa": 0.65, "yor": 0.55, "hau": 0.60, "ibo": 0.65},
}
AMHARIC_GOAL = 0.35
CASES = {"cased": "cased", "lower": "lower-cased"}
TITLES = {
    "capitals": "rule: capitalised words except the first",
    "margin-4": "own encoder, margin 4",
    "dates": "own encoder, dates count as entities (`--dates`)",
    "standard": "own encoder, standard cross-entropy",
    "small": "own encoder of size small, margin 4",
    "no-contrast": "own encoder, no contrastive term",
    "names": "own encoder, word list of CLDR names",
    "contexts": "own encoder, priors burstiness and contexts",
    "surprisal": "own encoder, priors burstiness and surprisal",
    "rarity": "own encoder, prior rarity only",
    "shared": "encoder trained on six languages",
    "shared-together": "encoder and gates trained on six languages",
}
NOT_MEASURED = "not measured"

Rows = dict[tuple[str, str], list[dict[str, Any]]]


def section() -> str:
    """Return the section as Markdown, including what was not measured."""
    rows = _read()
    parts = [
        "## Languages without a pretrained encoder",
        "`make bench-languages`; MasakhaNER report splits; mean and standard deviation of three "
        "seeds. Encoder and gates are trained on the same raw text of a language (0.13–0.32 "
        "million words: news, and the words of the tuning split, without overlaps with the report "
        "split). No labels are used: word F1 is measured at the threshold with the largest "
        "expected F1 on raw text. These sets annotate dates, a seventh to a third of all entity "
        "words and mostly without capitals; the row with `--dates` has this as prior knowledge and "
        "recognizes date words by the years next to them. No model trained on these texts is "
        "shipped.",
        _provisional(rows),
    ]
    for case, title in CASES.items():
        parts += [
            f"### Word F1, {title}",
            _table(rows, list(WITH_CAPITALS), case, "word_f1", GOALS[case]),
            _against_goals(rows, case),
        ]
    parts += [
        "### Amharic, a script without capitals: word average precision",
        f"The goal is {AMHARIC_GOAL:.2f}; the base rate is {_base_rate(rows)}.",
        _table(rows, list(WITHOUT_CAPITALS), "cased", "word_ap", {"amh": AMHARIC_GOAL}),
        "Word F1 at the threshold estimated from raw text: "
        + "; ".join(
            f"{TITLES[row]} {_cell(rows.get((row, 'amh'), []), 'cased', 'word_f1')}"
            for row in ("margin-4", "names")
        )
        + ".",
        "### Effect of the margin on the encoder",
        _margin(rows),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _provisional(rows: Rows) -> str:
    """Return a list of the rows that are marked as provisional, with the reasons."""
    notes: dict[str, dict[str, list[str]]] = {}
    for (row, language), many in rows.items():
        for found in many:
            if "provisional" in found:
                titles = notes.setdefault(found["provisional"], {})
                titles.setdefault(TITLES[row], []).append(NAMES[language])
    lines = [
        f"- {note}: "
        + "; ".join(f"{title} ({', '.join(names)})" for title, names in titles.items())
        for note, titles in sorted(notes.items())
    ]
    return "\n".join(["Provisional:", *lines]) if lines else ""


def _read() -> Rows:
    rows: Rows = {}
    for path in sorted(RESULTS.glob("*--*--*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        rows.setdefault((found["row"], found["language"]), []).append(found)
    return rows


def _table(
    rows: Rows, languages: list[str], case: str, figure: str, goals: dict[str, float]
) -> str:
    lines = [
        "| | " + " | ".join(NAMES[each] for each in languages) + " |",
        "|---" * (len(languages) + 1) + "|",
        "| *goal* | " + " | ".join(f"*{goals[each]:.2f}*" for each in languages) + " |",
    ]
    for row, how in ROWS.items():
        if not set(languages) & set(how.languages) or (row == "capitals" and case == "lower"):
            continue
        cells = [_cell(rows.get((row, each), []), case, figure) for each in languages]
        lines.append(f"| {TITLES[row]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _against_goals(rows: Rows, case: str) -> str:
    """Return the differences between the row with dates and the goals."""
    differences = []
    for language, goal in GOALS[case].items():
        values = [found[case]["word_f1"] for found in rows.get(("dates", language), [])]
        difference = f"{mean(values) - goal:+.3f}" if values else NOT_MEASURED
        differences.append(f"{NAMES[language]} {difference}")
    return f"Difference of the row with `--dates` to the goal: {', '.join(differences)}."


def _cell(measured: list[dict[str, Any]], case: str, figure: str) -> str:
    values = [found[case][figure] for found in measured if case in found]
    if not values:
        return NOT_MEASURED
    return f"{mean(values):.3f}" + (f"±{stdev(values):.3f}" if len(values) > 1 else "")


def _base_rate(rows: Rows) -> str:
    rates = [found["cased"]["base_rate"] for found in _of_amharic(rows)]
    return f"{rates[0]:.2f}" if rates else NOT_MEASURED


def _of_amharic(rows: Rows) -> list[dict[str, Any]]:
    return [found for (_, language), many in rows.items() if language == "amh" for found in many]


def _margin(rows: Rows) -> str:
    lines = [
        "Word AP in lower case, which depends on the gates alone, with the same seeds; and the "
        "loss of the encoder on held-out text under the full softmax.",
        "| | standard | margin 4 | seeds with a gain | loss, standard | loss, margin 4 |\n"
        "|---|---|---|---|---|---|",
    ]
    every = []
    for language in LANGUAGES:
        plain, margin = (
            {found["seed"]: found for found in rows.get((row, language), [])}
            for row in ("standard", "margin-4")
        )
        both = sorted(plain.keys() & margin.keys())
        if not both:
            lines[-1] += f"\n| {NAMES[language]} |" + f" {NOT_MEASURED} |" * 5
            continue
        pairs = [(_ap(plain[seed]), _ap(margin[seed])) for seed in both]
        every += pairs
        better = sum(right > left for left, right in pairs)
        losses = [mean(each[seed]["encoder_loss"] for seed in both) for each in (plain, margin)]
        lines[-1] += (
            f"\n| {NAMES[language]} | {mean(left for left, _ in pairs):.3f} | "
            f"{mean(right for _, right in pairs):.3f} | {better} of {len(both)} | "
            f"{losses[0]:.3f} | {losses[1]:.3f} |"
        )
    return "\n\n".join([*lines, _verdict(every)])


def _verdict(pairs: list[tuple[float, float]]) -> str:
    """Return a sentence on whether the margin helps.

    pairs: word AP with standard cross-entropy and with the margin, for each language and seed
    """
    if not pairs:
        return f"Effect of the margin: {NOT_MEASURED}."
    better = sum(right > left for left, right in pairs)
    gain = mean(right - left for left, right in pairs)
    helps = "helps" if better > 0.9 * len(pairs) else "does not help reliably"
    return (
        f"The margin {helps}: it is better in {better} of {len(pairs)} pairs of runs; the mean "
        f"difference in AP is {gain:+.3f}."
    )


def _ap(found: dict[str, Any]) -> float:
    return float(found["lower"]["word_ap"])


if __name__ == "__main__":
    print(section())
