"""The section of docs/results.md on speed, from the JSON that `make bench-speed` left."""

import json
from typing import Any

from benchmarks.entities.train import BUILT_IN, folder_name
from benchmarks.speed.growth import PICTURE, grown
from benchmarks.speed.rows import RESULTS, ROWS

_SETS = {"wnut17": "WNUT-17", "ewt": "EWT", "bc5cdr": "BC5CDR", "wikigold": "Wikigold"}
_TITLES = {
    "default": "**Thresher, built-in model**, in eight bits",
    "exact default": "the same in single precision (`exact=True`)",
    "distilled": "**Thresher, fast-english** (distilled)",
    "bare encoder": "its encoder alone: tokenizer and three layers of MiniLM",
    "bare tokenizer": "its tokenizer alone",
    "spaCy": "spaCy en_core_web_sm, tok2vec and ner",
    "default on raw text": "Thresher, built-in model, on raw text",
    "distilled on raw text": "Thresher, fast-english, on raw text",
    "segmentation": "words and sentences of raw text alone",
    "spaCy on raw text": "spaCy, its tokenizer, tok2vec and ner, on raw text",
}
_BULK = {
    "workers": "`--workers 2`",
    "ray": "`--engine ray --workers 2`",
    "ray-killed": "the same, a worker killed",
}


def section() -> str:
    """Markdown; says what was not measured."""
    parts = ["## Speed", *_words(), *_split(), *_gpu(), *_bulk(), *_growth()]
    return "\n\n".join(parts) + "\n"


def _row(name: str) -> dict[str, Any] | None:
    path = RESULTS / f"{name.replace(' ', '-')}.json"
    return json.loads(path.read_bytes()) if path.exists() else None


def _words() -> list[str]:
    """A row for each way through the sample, beside spaCy."""
    rows = {name: row for name in ROWS if (row := _row(name))}
    missing = ", ".join(name for name in ROWS if name not in rows)
    if "spaCy" not in rows:
        return [f"Not measured: {missing}."]
    unit = rows["spaCy"]["words_per_second"]
    lines = [
        "| | words a second | × spaCy | peak GB | " + " | ".join(_SETS.values()) + " |",
        "|---" * (4 + len(_SETS)) + "|",
    ]
    for name, row in rows.items():
        speed = row["words_per_second"]
        title = _TITLES.get(name, name)
        if row["words"] != rows["spaCy"]["words"]:
            title += f" ({row['words']:,} words)"
        scores = row.get("f1", {})
        cells = [" / ".join(f"{f1:.3f}" for f1 in scores.get(each, ())) for each in _SETS]
        lines.append(
            f"| {title} | {speed:,} | {_ratio(speed / unit)} | {row['peak_gb']} | "
            + " | ".join(cells)
            + " |"
        )
    words = rows["spaCy"]["words"]
    about = (
        f"`make bench-speed`. Words a second of processor time, one thread, over {words:,} words "
        "of the report splits; span F1 on them, cased / lower-cased. Rows on raw text put "
        "twenty sentences together and split them again. The machine is shared: compare rows."
    )
    parts = [about, "\n".join(lines), *_of_all(rows.get("default", {}))]
    if "of_bare_encoder" in rows.get("default", {}):
        parts.append(
            "Measured turn by turn, the best of ten, the built-in model runs at "
            f"{rows['default']['of_bare_encoder']:.1%} of the speed of its encoder alone, and at "
            f"{rows['default']['of_word_vectors']:.1%} where that makes vectors of words at once, "
            "as finding does."
        )
    return [*parts, *([f"Not measured: {missing}."] if missing else [])]


def _of_all(row: dict[str, Any]) -> list[str]:
    """Span F1 on whole splits, beside that of the same model in single precision."""
    if "f1_of_all" not in row:
        return []
    told = f"Span F1 of the built-in model in eight bits on the whole report splits: {_f1(row)}"
    path = RESULTS.parent / "entities" / "report.json"
    if not path.exists():
        return [f"{told}."]
    exact = json.loads(path.read_bytes())["finders"][folder_name(BUILT_IN, 0)]
    changes = [
        got - exact[name][case]["span_f1"]
        for name in _SETS
        for got, case in zip(row["f1_of_all"][name], ("cased", "lower"), strict=True)
    ]
    return [
        f"{told}; beside single precision, {min(changes):+.4f} to {max(changes):+.4f}, in the mean "
        f"{sum(changes) / len(changes):+.4f}."
    ]


def _f1(row: dict[str, Any]) -> str:
    return ", ".join(
        f"{title} {' / '.join(f'{value:.3f}' for value in row['f1_of_all'][name])}"
        for name, title in _SETS.items()
    )


def _split() -> list[str]:
    row = _row("distilled")
    if row is None:
        return []
    shares = ", ".join(f"{step} {share:.0%}" for step, share in row["shares"].items())
    return [
        f"Where the distilled finder's time goes: {shares}. Its span F1 on the whole report "
        f"splits: {_f1(row)}."
    ]


def _gpu() -> list[str]:
    row = _row("gpu")
    if row is None:
        return ["On a GPU (`python -m benchmarks.speed.gpu`): not measured."]
    lines = [
        "| | words a second |",
        "|---|---|",
        *(f"| {step} | {speed:,} |" for step, speed in row["words_per_second"].items()),
        *(
            f"| find in {count} processes, once they run; they start in {each['start_seconds']} s "
            f"| {each['words_per_second']:,} |"
            for count, each in row["in_workers"].items()
        ),
    ]
    about = (
        f"`python -m benchmarks.speed.gpu`: the built-in model on one {row['device']}, words a "
        "second on the clock; each step by itself, `find` in one process and in several."
    )
    return [about, "\n".join(lines)]


def _bulk() -> list[str]:
    rows = {name: row for name in _BULK if (row := _row(f"bulk-{name}"))}
    if not rows:
        return ["Bulk finding (`python -m benchmarks.speed.bulk`): not measured."]
    count = next(iter(rows.values()))["sentences"]
    lines = [
        "| | seconds | sentences a second | peak GB | after a third | missing | repeated | told |",
        "|---|---|---|---|---|---|---|---|",
        *(f"| {_BULK[name]} | {_cells(row)} |" for name, row in rows.items()),
    ]
    return [
        f"`python -m benchmarks.speed.bulk`: {count:,} sentences, one record broken, the distilled "
        "finder in two workers; starting them is counted too. Memory is of all processes together, "
        "each one's own.",
        "\n".join(lines),
    ]


def _cells(row: dict[str, Any]) -> str:
    keys = ("seconds", "sentences_per_second", "peak_gb", "early_gb", "missing", "repeated")
    return " | ".join([*(f"{row[key]:,}" for key in keys), str(len(row["told"]))])


def _growth() -> list[str]:
    rows = grown()
    if not rows:
        return ["Growth (`python -m benchmarks.speed.growth`): not measured."]
    lines = ["| | sentences | seconds | peak GB | mapped GB |", "|---|---|---|---|---|"]
    for title, own in rows.items():
        lines += [
            f"| {title} | {each['sentences']:,} | {each['seconds']} | {each['peak_gb']} | "
            f"{each.get('mapped_gb', '–')} |"
            for each in own
        ]
    picture = f"![Time and memory against sentences](pictures/{PICTURE.name})"
    return [
        "`python -m benchmarks.speed.growth`: time on the clock and memory as the text grows. "
        "Peak is memory of the processes' own. Mapped are pages of files that the system may take "
        "back: libraries, and the vectors of words that `fit` keeps on the disk (768 bytes each); "
        "where there is a –, they are in the peak too.",
        "\n".join(lines),
        *([picture] if PICTURE.exists() else []),
    ]


def _ratio(value: float) -> str:
    """To two digits, without an exponent."""
    return f"{float(f'{value:.2g}'):g}"


if __name__ == "__main__":
    print(section())
