"""The section of docs/results.md on training speed, from the results of `benchmarks.training`."""

import json
from pathlib import Path
from typing import Any

from benchmarks.training.corpora import STAGES, TRAIN
from benchmarks.training.throughput import NANOGPT, RESULTS

_CURVE = (0, 50, 100, 200, 300, 400, 490)  # first steps of the means of ten losses


def section() -> str:
    """Return the section as Markdown."""
    return f"## Training next to nanoGPT\n\n{_throughput()}{_curves()}{_corpora()}"


def _throughput() -> str:
    rows = [_read(path) for path in sorted(RESULTS.glob("throughput-*.json"))]
    if not rows:
        return "Not measured on a GPU: `make bench-training`.\n"
    theirs = {row["size"]: row for row in rows if row["name"] == NANOGPT}
    rows.sort(key=lambda row: (row["size"], row["name"] != NANOGPT, row["name"]))
    lines = "".join(_throughput_line(row, theirs.get(row["size"])) for row in rows)
    return (
        f"`python -m benchmarks.training.throughput`, {rows[0]['machine']}: the shapes of GPT-2, "
        "batch 16 × 1024, vocabulary 50,304, bfloat16,\ncompiled, from the same weights on the "
        "same batches of English text.\n\n"
        "| size | | tokens per second | of nanoGPT | peak memory | of nanoGPT |\n"
        f"|---|---|---:|---:|---:|---:|\n{lines}"
    )


def _throughput_line(row: dict[str, Any], theirs: dict[str, Any] | None) -> str:
    ratios = {
        key: "–" if theirs is None or row is theirs else f"{row[key] / theirs[key]:.3f}"
        for key in ("tokens_per_second", "peak_gib")
    }
    name = row["name"] if row["name"] == NANOGPT else f"`lm train`, {row['name']}"
    return (
        f"| {row['size']} | {name} | {row['tokens_per_second']:,.0f} | "
        f"{ratios['tokens_per_second']} | {row['peak_gib']:.2f} GiB | {ratios['peak_gib']} |\n"
    )


def _curves() -> str:
    """Return the training losses of rows that saw the same batches for 500 steps."""
    rows = [_read(path) for path in sorted(RESULTS.glob("throughput-124M-*.json"))]
    rows = [row for row in rows if len(row["losses"]) == 500]
    if not rows:
        return ""
    head = " | ".join(f"{first + 1}–{first + 10}" for first in _CURVE)
    lines = "".join(
        f"| {row['name']} | "
        + " | ".join(f"{sum(row['losses'][first : first + 10]) / 10:.3f}" for first in _CURVE)
        + " |\n"
        for row in rows
    )
    return (
        "\nTraining loss of the 124M model, mean over ten steps:\n\n"
        f"| steps | {head} |\n|---|{'---:|' * len(_CURVE)}\n{lines}"
    )


def _corpora() -> str:
    rows = [_read(path) for path in RESULTS.glob("corpus-*.json")]
    if not rows:
        return ""
    rows.sort(key=lambda row: float(row["characters"]))
    lines = "".join(
        f"| {row['characters'] / 1e6:,.0f} MB | {row['ids']:,} | {row['peak_mib']:,.0f} MiB "
        f"| {_cpu_seconds(row)} | {row['ids_per_cpu_second']:,.0f} |\n"
        for row in rows
    )
    return (
        "\n`python -m benchmarks.training.corpora`: `lm train` on random words in gzipped JSON "
        "lines, with 8,192 byte pairs, a small model and ten\nsteps, in one thread on a busy "
        "machine, so times are CPU seconds. The first stage includes the start of the command, the "
        "last one\nthe evaluation on the test split (at most 8 million characters). Memory is the "
        "peak of the whole process without pages of mapped\nfiles.\n\n"
        "| text | token ids | peak memory | CPU seconds: read, learn byte pairs, encode, train and "
        "test | ids encoded per CPU second |\n"
        f"|---|---:|---:|---:|---:|\n{lines}"
    )


def _cpu_seconds(row: dict[str, Any]) -> str:
    return ", ".join(f"{row['stages'][name]['cpu_seconds']:.0f}" for name in (*STAGES, TRAIN))


def _read(path: Path) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return row
