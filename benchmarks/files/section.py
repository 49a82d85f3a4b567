"""The section of docs/results.md on kinds of text, from the result of `make bench-files`."""

import json

from benchmarks.data import ALL_RESULTS

RESULT = ALL_RESULTS / "files.json"


def section() -> str:
    """Return the section as Markdown."""
    heading = "## Nine kinds of text\n\n"
    if not RESULT.exists():
        return heading + "Not measured: `make bench-files`.\n"
    measured = json.loads(RESULT.read_text(encoding="utf-8"))
    kinds = list(next(iter(measured.values())))
    rows = "".join(
        f"| {kind} | {_gold(measured, kind)} | "
        + " | ".join(_cell(each[kind]) for each in measured.values())
        + " |\n"
        for kind in kinds
    )
    names = " | ".join(measured)
    return (
        heading + "`make bench-files`: short texts that were written and marked for this project "
        "(`tests/fixtures/real_text`). Nine of the eleven files were marked before any model had "
        "read them; one page and one Markdown file were made harder after a first reading. The "
        "rule that drops the listings of a page was added after one of these pages was read, "
        "whose listing had given four of five false names. For each model: names found exactly / "
        "missed / false. A name with wrong bounds counts as missed and as false; the number of "
        "such names is in parentheses. The texts are few and by one author, so they show which "
        "files are handled and are no estimate of quality.\n\n"
        f"| kind of text | names | {names} |\n|---|---|{'---|' * len(measured)}\n{rows}"
    )


def _gold(measured: dict[str, dict[str, dict[str, int]]], kind: str) -> int:
    counts = next(iter(measured.values()))[kind]
    return counts["exact"] + counts["missed"]


def _cell(counts: dict[str, int]) -> str:
    return f"{counts['exact']} / {counts['missed']} / {counts['false']} ({counts['partial']})"
