"""Progress bars on standard error; nothing is shown if it is not a terminal."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from thresher.cli.errors import print_error

if TYPE_CHECKING:
    from thresher.lm.training.state import TrainingProgress

T = TypeVar("T")


class ProgressBars:
    """A `ProgressReporter` that draws a bar for each stage and prints notes as warnings."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self.notes: list[str] = []

    def stage(self, name: str, total: int | None = None) -> Callable[[int], None]:
        """Add a bar and return a function that is called with the number of further steps done."""
        bar = self._add(name, total)
        return lambda steps: self._bars.advance(bar, steps)

    def track(self, items: Iterable[T], name: str) -> Iterator[T]:
        """Yield the items and count them with a bar."""
        bar = self._add(name)
        number = 0
        for number, item in enumerate(items, 1):
            yield item
            self._bars.update(bar, completed=number)
        self._bars.update(bar, total=number)

    def training(self, name: str) -> Callable[["TrainingProgress"], None]:
        """Return a function that shows the progress of training; its first call adds the bar."""
        bar: TaskID | None = None

        def show(training: "TrainingProgress") -> None:
            nonlocal bar
            if bar is None:
                bar = self._add(name, training.steps)
            status = f"loss {training.loss:.3f}  {training.tokens_per_second:,.0f} tokens/s"
            self._bars.update(bar, completed=training.step, status=status)

        return show

    def note(self, message: str) -> None:
        """Print a warning, even with --quiet, and keep it in `notes`."""
        self.notes.append(message)
        print_error(f"warning: {message}")

    def _add(self, name: str, total: int | None = None) -> TaskID:
        return self._bars.add_task(name, total=total, status="")


@contextmanager
def progress_bars(*, quiet: bool) -> Iterator[ProgressBars]:
    """Show progress bars while the block runs; they disappear at its end, however it ends."""
    bars = Progress(
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description:<10}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        TextColumn("{task.fields[status]}"),
        console=Console(stderr=True),
        redirect_stdout=False,
        transient=True,
        speed_estimate_period=3600,  # seconds; steps of training may take minutes
        disable=quiet or not sys.stderr.isatty(),
    )
    with bars:
        yield ProgressBars(bars)


def print_remark(message: str, *, quiet: bool) -> None:
    """Print a line about the result to standard error if it is a terminal."""
    if not quiet and sys.stderr.isatty():
        Console(stderr=True, highlight=False).print(message, style="dim", markup=False)
