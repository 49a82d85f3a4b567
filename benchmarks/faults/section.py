"""The section of docs/results.md on faults, from the results of `benchmarks.faults`."""

import json
from collections.abc import Mapping
from typing import Any

from benchmarks.data import ALL_RESULTS

RESULTS = ALL_RESULTS / "faults"
Row = Mapping[str, Any]
# For each heading, a format string with the names of values in a row; `losses` is their number.
Columns = Mapping[str, str]

_KILLS: Columns = {
    "command": "`{command}`",
    "kills": "{kills}",
    "of them at a file operation": "{at_file_operations}",
    "old or new output complete": "{intact}",
    "resumed runs with the same bytes, nothing left over": "{recovered}",
    "losses": "{losses}",
}
_DISK: Columns = {
    "command": "`{command}`",
    "read-only from a file operation on": "{read-only}",
    "full from a file operation on": "{full}",
    "small disks that became full": "{tmpfs}",
    "losses": "{losses}",
}
_TEXTS: Columns = {
    "format": "{format}",
    "fuzzed texts": "{texts:,}",
    "in damaged files": "{damaged:,}",
    "problems reported": "{problems:,}",
    "entities, with right offsets": "{entities:,}",
    "losses": "{losses}",
}
_FOLDERS: Columns = {
    "model": "{kind}",
    "folders": "{folders}",
    "refused with one line": "{refused}",
    "loaded and worked": "{loaded}",
    "losses": "{losses}",
}
_NEIGHBOURS: Columns = {
    "model": "{model}",
    "sentences": "{sentences:,}",
    "words whose score changes": "{changed:.1%}",
    "largest change": "{largest:.1g}",
}
_PARTS: tuple[tuple[str, str, Columns], ...] = (
    (
        "kills",
        "Commands are killed with SIGKILL at random moments and run again, with `--resume` where a "
        "command has it; every third one is killed a second time. A resumed result is compared "
        "byte by byte with that of a run that was not killed (without the training speed in the "
        "log of a language model).",
        _KILLS,
    ),
    (
        "disk",
        "The file system becomes read-only or full. The command must report it in one line and "
        "keep the old output; afterwards it is run again and must give the same bytes.",
        _DISK,
    ),
    (
        "texts",
        "Random texts (all planes of Unicode, control characters, huge tokens, mixed scripts) are "
        "written to files, of which half are then damaged, and read and searched by fast-english. "
        "Every text of a valid table or JSONL file must arrive unchanged.",
        _TEXTS,
    ),
    (
        "folders",
        "Random values, tensors and files of model folders are changed, and the folders signed "
        "again; loading and using one may take 512 MiB and 10 s.",
        _FOLDERS,
    ),
    (
        "neighbours",
        "Scores of sentences alone, all together and in another order.",
        _NEIGHBOURS,
    ),
)


def section() -> str:
    """Return the section as Markdown."""
    parts = ["## Faults\n\n`make bench-faults`; seeded, on tiny corpora with a tiny encoder.\n"]
    for name, text, columns in _PARTS:
        path = RESULTS / f"{name}.json"
        if not path.exists():
            parts.append(f"Not measured: `python -m benchmarks.faults {name}`.\n")
            continue
        rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
        parts.append(f"{text}\n\n{_table(rows, columns)}")
    return "\n".join(parts)


def _table(rows: list[Row], columns: Columns) -> str:
    lines = [
        "| " + " | ".join(columns) + " |",
        "|---|" + "---:|" * (len(columns) - 1),
    ]
    for row in rows:
        values = {**row, "losses": len(row.get("losses", ()))}
        cells = [template.format_map(values) for template in columns.values()]
        lines.append("| " + " | ".join(cells) + " |")
    if all(name in columns for name in ("kills", "losses")):
        total = sum(row["kills"] for row in rows)
        lost = sum(len(row["losses"]) for row in rows)
        lines.append(f"| all | {total} | | | | {lost} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(section())
