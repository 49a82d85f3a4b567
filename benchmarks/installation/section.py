"""The section of docs/results.md on the installation, from the result of `make check-wheel`."""

import json

from benchmarks.data import ALL_RESULTS

RESULT = ALL_RESULTS / "installation.json"


def section() -> str:
    """Return the section as Markdown."""
    heading = "## Installation\n\n"
    if not RESULT.exists():
        return heading + "Not measured: `make check-wheel`.\n"
    measured = json.loads(RESULT.read_text(encoding="utf-8"))
    rows = "".join(
        f"| {name or '–'} | {each['seconds']} | {each['megabytes']:,} "
        f"| {'; '.join(each['problems']) or 'works'} |\n"
        for name, each in measured.items()
    )
    return (
        heading + "`make check-wheel`: the built wheel is installed in an empty environment with "
        "each extra on its own, and commands of the documentation are run there. Times depend on "
        "the package index and its cache; here torch is built for CPUs only.\n\n"
        f"| extra | seconds | MB | commands |\n|---|---|---|---|\n{rows}"
    )
