"""The training log: one row for each evaluation, written as CSV and for TensorBoard."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from thresher.errors import os_errors_as_input_errors, requires_extra

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


@contextmanager
def tensorboard_log(folder: Path | None) -> Iterator[Callable[[LogRow], None]]:
    """Yield a function that adds a row to the log, with one curve for each column but the step.

    folder: where to write the log; None for a function that does nothing
    """
    if folder is None:
        yield lambda row: None
        return
    with requires_extra("train", "a TensorBoard log needs tensorboard"):
        from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 (an extra)
    with os_errors_as_input_errors(f"cannot write a TensorBoard log to {folder}"):
        writer = SummaryWriter(str(folder))

    def add(row: LogRow) -> None:
        for name, value in row.items():
            if name != "step":
                writer.add_scalar(_tag(name), value, row["step"])
        writer.flush()

    try:
        yield add
    finally:
        writer.close()


def _tag(name: str) -> str:
    """Return the tag of a column: losses of groups share the section "loss" and have no spaces."""
    return f"loss/{name.replace(' ', '_')}" if name.startswith("ranks ") else name
