"""The section of docs/results.md on faults, from the results of `benchmarks.faults`."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.data import ALL_RESULTS

RESULTS = ALL_RESULTS / "faults"
Row = Mapping[str, Any]
Columns = Mapping[str, Callable[[Row], str]]

_KILLS: Columns = {
    "command": lambda row: f"`{row['command']}`",
    "kills": lambda row: f"{row['kills']}",
    "of them at a file operation": lambda row: f"{row['at_file_operations']}",
    "old or new output complete": lambda row: f"{row['intact']}",
    "resumed runs with the same bytes, nothing left over": lambda row: f"{row['recovered']}",
    "losses": lambda row: f"{len(row['losses'])}",
}
_DISK: Columns = {
    "command": lambda row: f"`{row['command']}`",
    "read-only from a file operation on": lambda row: f"{row['read-only']}",
    "full from a file operation on": lambda row: f"{row['full']}",
    "small disks that became full": lambda row: f"{row['tmpfs']}",
    "losses": lambda row: f"{len(row['losses'])}",
}
_TEXTS: Columns = {
    "format": lambda row: row["format"],
    "fuzzed texts": lambda row: f"{row['texts']:,}",
    "in damaged files": lambda row: f"{row['damaged']:,}",
    "problems reported": lambda row: f"{row['problems']:,}",
    "entities, with right offsets": lambda row: f"{row['entities']:,}",
    "losses": lambda row: f"{len(row['losses'])}",
}
_FOLDERS: Columns = {
    "model": lambda row: row["kind"],
    "folders": lambda row: f"{row['folders']}",
    "refused with one line": lambda row: f"{row['refused']}",
    "loaded and worked": lambda row: f"{row['loaded']}",
    "losses": lambda row: f"{len(row['losses'])}",
}
_NEIGHBOURS: Columns = {
    "model": lambda row: row["model"],
    "sentences": lambda row: f"{row['sentences']:,}",
    "words whose score changes": lambda row: f"{row['changed']:.1%}",
    "largest change": lambda row: f"{row['largest']:.1g}",
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
        *("| " + " | ".join(cell(row) for cell in columns.values()) + " |" for row in rows),
    ]
    if all(name in columns for name in ("kills", "losses")):
        total = sum(row["kills"] for row in rows)
        lost = sum(len(row["losses"]) for row in rows)
        lines.append(f"| all | {total} | | | | {lost} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(section())
