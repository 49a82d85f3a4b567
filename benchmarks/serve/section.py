"""The section on the server of docs/results.md, from what `benchmarks.serve` measured."""

import json
from collections.abc import Iterator
from typing import Any

from benchmarks.data import ALL_RESULTS

RESULT = ALL_RESULTS / "serve.json"


def section() -> str:
    """Markdown."""
    if not RESULT.exists():
        return "## The server\n\nNot measured: `make bench-serve`.\n"
    measured = json.loads(RESULT.read_text(encoding="utf-8"))
    rows = "".join(f"| {name} | {figures} |\n" for name, figures in _rows(measured))
    return (
        f"## The server\n\n`make bench-serve`; {measured['cores']} cores, shared by the server and "
        "its clients; the built-in model,\nasked as the page asks: every candidate and the score "
        f"of every word.\n\n| | |\n|---|---|\n{rows}"
    )


def _rows(measured: dict[str, Any]) -> Iterator[tuple[str, str]]:
    alone, load, full = measured["one_text"], measured["load"], measured["overfilled"]
    yield (
        f"a text of {alone['words']} words, nobody else asking",
        f"median {alone['median']:.2f} s, worst {alone['worst']:.2f} s",
    )
    yield (
        f"{load['clients']} clients, {load['words']} words each, for {load['seconds']:g} s",
        f"{load['requests']:,} requests, {load['per_second']:g} a second; {_statuses(load)}",
    )
    yield (
        "how long they waited",
        f"median {load['median']:.2f} s, p95 {load['p95']:.2f} s, p99 {load['p99']:.2f} s",
    )
    first, last = load["memory_first_third_mb"], load["memory_last_third_mb"]
    yield "memory, first and last third of that time", f"{first:.0f} MB, {last:.0f} MB"
    yield (
        f"{full['at_once']} requests in one moment",
        f"{_statuses(full)}; the next one {full['afterwards']}",
    )


def _statuses(measured: dict[str, Any]) -> str:
    counts = sorted(measured["statuses"].items())
    if len(counts) == 1:
        return f"all {counts[0][0]}"
    return ", ".join(f"{count:,} × {status}" for status, count in counts)


if __name__ == "__main__":
    print(section())
