"""The section of docs/results.md on variants and baselines, from the results of their benchmark."""

import json
from typing import Any

from benchmarks.data import ROOT
from benchmarks.variants.results import CASES, RESULTS, SPAN, WORD, RowResults, results_of, verdict
from benchmarks.variants.rows import BASELINES, ROWS
from benchmarks.variants.written_design import written_section

TITLES = {"wnut17": "WNUT-17", "ewt": "EWT", "bc5cdr": "BC5CDR", "wikigold": "Wikigold"}
PARTS_OF_SPEECH = RESULTS / "parts-of-speech.json"


def section() -> str:
    """Return the section as Markdown, including what was not measured."""
    parts = ["## Effect of each variant", _introduction(), *_split_parts("tune"), *_pictures()]
    if results_of("report"):
        parts += ["### Report splits", *_split_parts("report")]
    return "\n\n".join([*parts, *_dual_parts(), *written_section()]) + "\n"


def _introduction() -> str:
    return (
        "`make bench-variants`. Every row changes one or a few options of the default "
        "([choosing options](options.md) explains them). All rows are trained on the same third "
        "of the raw English text (every third block of a hundred sentences) and evaluated on the "
        "tune splits. Figures are means over the sets; ± is half the range between seeds. A row "
        "*helps* or *hurts* if its mean span F1 over sets and both cases differs from that of the "
        "default by more than the larger of the two ranges between seeds; otherwise there is *no "
        "difference*."
    )


def _split_parts(split: str) -> list[str]:
    rows = results_of(split)
    if "default" not in rows:
        return [f"Not measured on the {split} splits."]
    parts = [_table(rows), *_by_set(rows)]
    missing = [row for row in (*ROWS, *BASELINES) if row not in rows]
    if missing:
        parts.append(f"Not measured: {'; '.join(missing)}.")
    few = {row.seeds[0]["sentences"] for row in rows.values() if "sentences" in row.seeds[0]}
    if few:
        parts.append(f"spaCy, YAKE and KeyBERT: first {max(few)} sentences of each set.")
    parts.append(_best(rows))
    return parts


def _pictures() -> list[str]:
    """Return links to the plots of `benchmarks.variants.plots`."""
    drawn = {
        "variants-bars": "Span F1 of every row, one dot per seed",
        "variants-curves": "Word precision over recall",
        "variants-example": "The gates of a sentence for each selector",
    }
    return [
        f"![{title}](pictures/{name}.svg)"
        for name, title in drawn.items()
        if (ROOT / "docs" / "pictures" / f"{name}.svg").is_file()
    ]


def _table(rows: dict[str, RowResults]) -> str:
    lines = [
        "| | word AP | span F1 | lower-cased | difference to the default | fit, s | GPU, GB |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        cells = [
            str(row.overall(WORD, ("cased",))),
            str(row.overall(SPAN, ("cased",))),
            str(row.overall(SPAN, ("lower",))),
            "" if name == "default" else verdict(row, rows["default"], SPAN),
            _number(row.mean_of("seconds"), ".0f"),
            _number(row.mean_of("peak_gpu_gb"), ".1f"),
        ]
        lines.append(f"| {_label(name, row)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _by_set(rows: dict[str, RowResults]) -> list[str]:
    sets = list(rows["default"].seeds[0]["sets"])
    lines = [
        "| span F1, cased / lower-cased | " + " | ".join(TITLES[name] for name in sets) + " |",
        "|---" * (len(sets) + 1) + "|",
    ]
    for name, row in rows.items():
        cells = [
            " / ".join(f"{row.figure(SPAN, each, case).mean:.3f}" for case in CASES)
            if each in row.seeds[0]["sets"]
            else "not measured"
            for each in sets
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return ["By set:", "\n".join(lines)]


def _best(rows: dict[str, RowResults]) -> str:
    best = max((row for name, row in rows.items() if name in ROWS), key=_overall)
    if best.row == "default":
        return "No row is better than the default."
    return f"The best row is *{best.row}* ({verdict(best, rows['default'], SPAN)})."


def _overall(row: RowResults) -> float:
    return row.overall(SPAN).mean


def _dual_parts() -> list[str]:
    """Return what the selectors of dual models learn."""
    rows = {name: row for name, row in results_of("tune").items() if "selector_aps" in row.seeds[0]}
    dual = {name: row for name, row in rows.items() if _selectors(row) > 1}
    if not dual:
        return ["### What dual selectors learn", "Not measured."]
    parts = ["### What dual selectors learn", _chosen(dual)]
    if PARTS_OF_SPEECH.is_file():
        parts.append(_part_of_speech_table(json.loads(PARTS_OF_SPEECH.read_text(encoding="utf-8"))))
    else:
        parts.append("Parts of speech: not measured.")
    return parts


def _chosen(dual: dict[str, RowResults]) -> str:
    """Return how often the selector chosen without labels is the best one according to labels."""
    right = total = 0
    for row in dual.values():
        for seed in row.seeds:
            for aps in seed["selector_aps"].values():
                total += 1
                right += aps[seed["entity"]] >= max(aps) - 0.005
    return (
        "The selector for entities is chosen without labels, by its agreement with the prior. "
        f"Over rows, seeds and sets, its gates have the best word AP of all selectors, or are "
        f"within .005 of it, in {right} of {total} cases."
    )


def _part_of_speech_table(speech: dict[str, Any]) -> str:
    tags = speech["tags"]
    lines = [
        "Parts of speech of the words that each selector opens (P > ½) on the tune splits, "
        f"tagged by {speech['tagger']}:",
        "",
        "| | words opened | " + " | ".join(tags) + " | most frequent |",
        "|---" * (len(tags) + 3) + "|",
        "| all words | 100 % | "
        + " | ".join(_percent(speech["all"][tag]) for tag in tags)
        + " | |",
    ]
    for each in speech["selectors"]:
        fractions = " | ".join(_percent(each["shares"][tag]) for tag in tags)
        role = ", entities" if each["entity"] else ""
        lines.append(
            f"| {each['row']}, selector {each['selector']}{role} | {_percent(each['opened'])} | "
            f"{fractions} | {', '.join(each['words'])} |"
        )
    return "\n".join(lines)


def _selectors(row: RowResults) -> int:
    return len(next(iter(row.seeds[0]["selector_aps"].values())))


def _label(name: str, row: RowResults) -> str:
    count = len(row.seeds)
    seeds = f" ({count} seed{'s' if count > 1 else ''})" if name in ROWS else ""
    return f"**{name}**{seeds}" if name == "default" else f"{name}{seeds}"


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.0f} %"


if __name__ == "__main__":
    print(section())
