"""The log of a run for TensorBoard, beside its CSV."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from thresher.errors import InputError, os_errors_as_input_errors
from thresher.lm.training.loop import Row


@contextmanager
def tensorboard_log(folder: Path | None) -> Iterator[Callable[[Row], None]]:
    """A function that adds a row of the log to the folder: a curve for each column but the step.

    Without a folder it does nothing.
    """
    if folder is None:
        yield lambda row: None
        return
    try:
        from torch.utils.tensorboard import SummaryWriter  # noqa: PLC0415 (an extra)
    except ImportError as error:
        raise InputError(
            "a TensorBoard log needs tensorboard: pip install 'thresher[train]'"
        ) from error
    with os_errors_as_input_errors(f"cannot write a TensorBoard log to {folder}"):
        writer = SummaryWriter(str(folder))

    def add(row: Row) -> None:
        for name, value in row.items():
            if name != "step":
                writer.add_scalar(_tag(name), value, row["step"])
        writer.flush()

    try:
        yield add
    finally:
        writer.close()


def _tag(name: str) -> str:
    """Losses of groups under one heading, without the spaces that TensorBoard would replace."""
    return f"loss/{name.replace(' ', '_')}" if name.startswith("ranks ") else name
