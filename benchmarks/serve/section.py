"""The section of docs/results.md on the server, from the result of `benchmarks.serve`."""

import json
from collections.abc import Iterator
from typing import Any

from benchmarks.data import ALL_RESULTS

RESULT = ALL_RESULTS / "serve.json"


def section() -> str:
    """Return the section as Markdown."""
    if not RESULT.exists():
        return "## The server\n\nNot measured: `make bench-serve`.\n"
    measured = json.loads(RESULT.read_text(encoding="utf-8"))
    rows = "".join(f"| {name} | {figures} |\n" for name, figures in _rows(measured))
    return (
        f"## The server\n\n`make bench-serve`; {measured['cores']} cores, shared by the server and "
        "its clients; built-in model.\nThe requests are those of the web page: they ask for all "
        f"candidates and the score of every word.\n\n| | |\n|---|---|\n{rows}"
        f"{_hostile_table(measured.get('hostile'))}"
    )


def _hostile_table(hostile: dict[str, Any] | None) -> str:
    """Return the table of small requests next to hostile clients."""
    if hostile is None:
        return ""
    rows = "".join(
        f"| {name} | {each['requests']:,} | {_statuses(each)} | {each['median']:.3f} "
        f"| {each['p95']:.3f} | {each['worst']:.3f} | {each['log_lines']:,} |\n"
        for name, each in hostile["cases"].items()
    )
    return (
        f"\nSmall requests ({hostile['words']} words, each on a new connection, four clients) next "
        f"to other clients, for {hostile['seconds']:g} s each; latencies in seconds.\n\n"
        "| other clients | requests | status | median | p95 | worst | lines in the log |\n"
        f"|---|---|---|---|---|---|---|\n{rows}"
    )


def _rows(measured: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if small := measured.get("small_text"):
        yield (
            f"one text of {small['words']} words, no other requests",
            f"median {1000 * small['median']:.1f} ms, worst {1000 * small['worst']:.1f} ms",
        )
    one_text, load, burst = measured["one_text"], measured["load"], measured["overfilled"]
    yield (
        f"one text of {one_text['words']} words, no other requests",
        f"median {one_text['median']:.2f} s, worst {one_text['worst']:.2f} s",
    )
    yield (
        f"{load['clients']} concurrent clients, {load['words']} words per request, "
        f"for {load['seconds']:g} s",
        f"{load['requests']:,} requests, {load['per_second']:g} per second; {_statuses(load)}",
    )
    yield (
        "latency under that load",
        f"median {load['median']:.2f} s, p95 {load['p95']:.2f} s, p99 {load['p99']:.2f} s",
    )
    first, last = load["memory_first_third_mb"], load["memory_last_third_mb"]
    yield (
        "memory under that load, mean of the first and of the last third",
        f"{first:.0f} MB, {last:.0f} MB",
    )
    yield (
        f"{burst['at_once']} requests at once",
        f"{_statuses(burst)}; the next request {burst['afterwards']}",
    )


def _statuses(measured: dict[str, Any]) -> str:
    counts = sorted(measured["statuses"].items())
    if len(counts) == 1:
        return f"all {counts[0][0]}"
    return ", ".join(f"{count:,} × {status}" for status, count in counts)


if __name__ == "__main__":
    print(section())
