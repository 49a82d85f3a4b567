"""The section of docs/results.md on speed, from the results of `make bench-speed`."""

import json
from typing import Any

from benchmarks.data import ROOT
from benchmarks.speed.growth import PICTURE, growth_rows
from benchmarks.speed.processors import INSTRUCTIONS, speed_of
from benchmarks.speed.rows import RESULTS, ROWS

_SETS = {"wnut17": "WNUT-17", "ewt": "EWT", "bc5cdr": "BC5CDR", "wikigold": "Wikigold"}
_TITLES = {
    "default": "**Thresher, built-in model**, int8",
    "exact default": "Thresher, built-in model, single precision (`exact=True`)",
    "small": "**Thresher, small-english** (two distilled layers), int8",
    "distilled": "**Thresher, fast-english** (distilled)",
    "multilingual": "**Thresher, multilingual**, int8",
    "word vectors": "encoder of the built-in model alone, to word vectors as in `find`",
    "bare encoder": "encoder of the built-in model alone: tokenizer and three layers",
    "bare tokenizer": "tokenizer of the built-in model alone",
    "spaCy": "spaCy en_core_web_sm, tok2vec and ner",
    "spaCy md": "spaCy en_core_web_md, tok2vec and ner",
    "default on raw text": "Thresher, built-in model, on raw text",
    "distilled on raw text": "Thresher, fast-english, on raw text",
    "segmentation": "splitting raw text into sentences and words alone",
    "spaCy on raw text": "spaCy, tokenizer, tok2vec and ner, on raw text",
}
_TABLE_START, _TABLE_END = "<!-- processors -->", "<!-- /processors -->"
_BULK = {
    "workers": "`--workers 2`",
    "ray": "`--engine ray --workers 2`",
    "ray-killed": "`--engine ray --workers 2`, one worker killed",
}


# How steps are called in the JSON and here.
_STEPS = {
    "looking up subwords": "subword lookup",
    "views": "signals",
    "views and decoding": "signals and decoding",
    "encoder, half precision": "encoder, float16",
    "sentences and words": "sentence and word segmentation",
    "tokens": "tokenizer",
}


def section() -> str:
    """Return the section as Markdown, including what was not measured."""
    parts = ["## Speed", *_words(), *_processors(), *_split(), *_gpu(), *_bulk(), *_growth()]
    return "\n\n".join(parts) + "\n"


def _row(name: str) -> dict[str, Any] | None:
    path = RESULTS / f"{name.replace(' ', '-')}.json"
    return json.loads(path.read_bytes()) if path.exists() else None


def _words() -> list[str]:
    """Return a table of words per second, and each row's speed relative to spaCy."""
    rows = {name: row for name in ROWS if (row := _row(name))}
    missing = ", ".join(name for name in ROWS if name not in rows)
    if "spaCy" not in rows:
        return [f"Not measured: {missing}."]
    unit = rows["spaCy"]["words_per_second"]
    lines = [
        "| | words per second | × spaCy | peak GB | " + " | ".join(_SETS.values()) + " |",
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
        f"`make bench-speed`. Words per second of CPU time, one thread, on {words:,} words "
        "of the report splits; span F1 on the same words, cased / lower-cased. For the rows on raw "
        "text, twenty sentences are joined to a text, which is split again. The machine is shared "
        "with other programs, so compare rows with each other."
    )
    parts = [about, "\n".join(lines)]
    if "of_bare_encoder" in rows.get("default", {}):
        parts.append(
            "In alternating runs, best of ten, the built-in model has "
            f"{rows['default']['of_bare_encoder']:.1%} of the speed of its encoder alone, and "
            f"{rows['default']['of_word_vectors']:.1%} of the speed of its encoder when that "
            "returns word vectors directly, as in `find`."
        )
    return [*parts, *([f"Not measured: {missing}."] if missing else [])]


def _processors() -> list[str]:
    """Return a table of speeds with older and newer instructions, and what they do to the F1."""
    row = _row("processors")
    if row is None:
        return ["Older CPUs (`python -m benchmarks.speed.processors`): not measured."]
    figures = row["rows"]
    lines = ["| | instructions | threads | words per second | × spaCy |", "|---|---|---|---|---|"]
    for each in figures:
        speed, unit = each["words_per_second"], speed_of(figures, "spaCy", each["threads"])
        lines.append(
            f"| {_TITLES.get(each['row'], each['row'])} | {each['instructions']} | "
            f"{each['threads']} | {speed:,} | {speed / unit:.2f} |"
        )
    about = (
        "`python -m benchmarks.speed.processors`: all rows in turns, in one run. AVX2: the "
        "libraries are limited to the instructions of older CPUs. One thread: words per second of "
        "CPU time; two: of wall-clock time."
    )
    return [about, "\n".join(lines), *_of_encoder(figures), *_first(row), *_quality_of_processors()]


def write_processors_table() -> None:
    """Write a table of speeds by model and instructions into docs/speed.md."""
    row = _row("processors")
    if row is None:
        return
    page = ROOT / "docs" / "speed.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(_TABLE_START)
    _, _, after = rest.partition(_TABLE_END)
    table = "\n".join(_processors_table(row["rows"]))
    page.write_text(f"{before}{_TABLE_START}\n{table}\n{_TABLE_END}{after}", encoding="utf-8")


def _processors_table(figures: list[dict[str, Any]]) -> list[str]:
    """Return the rows of a table: each model's speed relative to spaCy's small model."""
    variants = [(names, threads) for threads in (1, 2) for names in INSTRUCTIONS]
    present = {(each["row"], each["instructions"], each["threads"]) for each in figures}
    titles = (f"{name}, {threads} thread{'s'[: threads - 1]}" for name, threads in variants)
    lines = [
        f"| × spaCy's small model | {' | '.join(titles)} |",
        "|---" * (len(variants) + 1) + "|",
    ]
    for name in dict.fromkeys(each["row"] for each in figures):
        cells = [
            _ratio(speed_of(figures, name, threads, which) / speed_of(figures, "spaCy", threads))
            if (name, which, threads) in present
            else "–"
            for which, threads in variants
        ]
        lines.append(f"| {_TITLES.get(name, name)} | {' | '.join(cells)} |")
    return lines


def _of_encoder(figures: list[dict[str, Any]]) -> list[str]:
    """Return how fast the built-in model is relative to its encoder, in each variant."""
    parts = []
    for each in figures:
        if each["row"] == "word vectors":
            key = each["threads"], each["instructions"]
            ratio = speed_of(figures, "default", *key) / each["words_per_second"]
            parts.append(f"{ratio:.0%} ({key[1]}, {key[0]} threads)")
    return [f"Speed of `find` relative to its encoder: {', '.join(parts)}."] if parts else []


def _first(row: dict[str, Any]) -> list[str]:
    seconds = [f"`{model}` {each:.2f} s" for model, each in row.get("first_find", {}).items()]
    if not seconds:
        return []
    return [
        "The first result: CPU time of `thresher find` with a short text, from the start of Python "
        f"to its end: {', '.join(seconds)}."
    ]


def _quality_of_processors() -> list[str]:
    """Return the difference of the span F1 to float32 on the whole report splits."""
    row = _row("processors-quality")
    if row is None:
        return []
    parts = []
    for instructions, by_precision in row.items():
        own, exact = by_precision.get("int8", by_precision["float32"]), by_precision["float32"]
        changes = [
            got - expected
            for name in _SETS
            for got, expected in zip(own[name], exact[name], strict=True)
        ]
        parts.append(f"{instructions} {min(changes):+.4f} to {max(changes):+.4f}")
    return [
        "Span F1 of the built-in model on the whole report splits, difference to float32: "
        f"{'; '.join(parts)}."
    ]


def _split() -> list[str]:
    row = _row("distilled")
    if row is None:
        return []
    fractions = ", ".join(
        f"{_STEPS.get(step, step)} {fraction:.0%}" for step, fraction in row["shares"].items()
    )
    return [f"Fractions of the time of fast-english: {fractions}."]


def _gpu() -> list[str]:
    row = _row("gpu")
    if row is None:
        return ["On a GPU (`python -m benchmarks.speed.gpu`): not measured."]
    lines = [
        "| | words per second |",
        "|---|---|",
        *(
            f"| {_STEPS.get(step, step)} | {speed:,} |"
            for step, speed in row["words_per_second"].items()
        ),
        *(
            f"| find in {count} processes, after a start of {each['start_seconds']} s "
            f"| {each['words_per_second']:,} |"
            for count, each in row["in_workers"].items()
        ),
    ]
    about = (
        f"`python -m benchmarks.speed.gpu`: the built-in model on one {row['device']}, words "
        "per second of wall-clock time: each step alone, then `find` in one process and in several."
    )
    return [about, "\n".join(lines)]


def _bulk() -> list[str]:
    rows = {name: row for name in _BULK if (row := _row(f"bulk-{name}"))}
    if not rows:
        return ["Bulk finding (`python -m benchmarks.speed.bulk`): not measured."]
    count = next(iter(rows.values()))["sentences"]
    lines = [
        "| | seconds | sentences per second | peak GB | peak GB in the first third "
        "| missing | repeated | reported |",
        "|---|---|---|---|---|---|---|---|",
        *(f"| {_BULK[name]} | {_cells(row)} |" for name, row in rows.items()),
    ]
    return [
        f"`python -m benchmarks.speed.bulk`: {count:,} sentences, one of them a broken record, "
        "fast-english in two workers; the time includes their start. Memory is the sum of the "
        "private memory of all processes.",
        "\n".join(lines),
    ]


def _cells(row: dict[str, Any]) -> str:
    keys = ("seconds", "sentences_per_second", "peak_gb", "early_gb", "missing", "repeated")
    return " | ".join([*(f"{row[key]:,}" for key in keys), str(len(row["told"]))])


def _growth() -> list[str]:
    rows = growth_rows()
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
        "`python -m benchmarks.speed.growth`: wall-clock time and memory by the size of the "
        "text. Peak: private memory of all processes. Mapped: pages of files in memory, which the "
        "system can evict: libraries, and the word vectors that `fit` keeps on disk (768 bytes per "
        "word); where there is a –, they are included in the peak.",
        "\n".join(lines),
        *([picture] if PICTURE.exists() else []),
    ]


def _ratio(value: float) -> str:
    """Format with two significant digits and without an exponent."""
    return f"{float(f'{value:.2g}'):g}"


if __name__ == "__main__":
    print(section())
