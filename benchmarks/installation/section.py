"""The section of docs/results.md on the installation, from the results of `make check-wheel`."""

import json
from typing import Any

from benchmarks.data import ALL_RESULTS

RESULT = ALL_RESULTS / "installation.json"
FIRST_TABLE = ALL_RESULTS / "first_table.json"


def section() -> str:
    """Return the section as Markdown."""
    return "\n".join(["## Installation\n", _first_table(), _extras()])


def _first_table() -> str:
    """Return the time from the installation to the first table of entities."""
    command = "`python -m benchmarks.installation.first_table`"
    if not FIRST_TABLE.exists():
        return f"The time to the first table was not measured: {command}.\n"
    measured = json.loads(FIRST_TABLE.read_text(encoding="utf-8"))
    tables = ", ".join(
        f"{measured[model]:.0f} s with `{model}` ({measured[f'{model}_rows']:,} entities)"
        for model in ("english", "fast-english")
    )
    return (
        f"From `pip install` to the first table of entities, {command}: {measured['documents']:,} "
        f"documents with {measured['words']:,} words. {_installation(measured['install'])}"
        f"`thresher entities documents -o table.csv` took {tables}, start included, on two cores.\n"
    )


def _installation(seconds: float | None) -> str:
    if seconds is None:
        return "The installation was not measured in this run. "
    return f"The installation into an empty environment took {seconds:.0f} s. "


def _seconds(measured: dict[str, Any]) -> str:
    return "–" if measured["seconds"] is None else str(measured["seconds"])


def _extras() -> str:
    """Return the table of extras."""
    if not RESULT.exists():
        return "The extras were not measured: `make check-wheel`.\n"
    measured = json.loads(RESULT.read_text(encoding="utf-8"))
    rows = "".join(
        f"| {name or '–'} | {_seconds(each)} | {each['megabytes']:,} "
        f"| {'; '.join(each['problems']) or 'work'} |\n"
        for name, each in measured.items()
    )
    return (
        "`make check-wheel`: the built wheel is installed in an environment of its own with each "
        "extra by itself, and commands of the documentation are run there. The seconds of an extra "
        "come on top of those without any; they depend on the package index. torch is built for "
        "CPUs only here.\n\n"
        f"| extra | seconds | MB in all | commands |\n|---|---|---|---|\n{rows}"
    )
