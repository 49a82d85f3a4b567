"""The training log: one row for each evaluation, written as CSV."""

import csv
import io
from collections.abc import Sequence

LogRow = dict[str, float]


def log_to_csv(log: Sequence[LogRow]) -> str:
    """Return the log as CSV, with a header."""
    text = io.StringIO()
    if log:
        writer = csv.DictWriter(text, list(log[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(log)
    return text.getvalue()


def log_from_csv(text: str) -> list[LogRow]:
    """Read what `log_to_csv` returned."""
    return [
        {name: int(value) if name == "step" else float(value) for name, value in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    ]
