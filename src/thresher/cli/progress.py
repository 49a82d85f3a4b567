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
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)

from thresher.cli.errors import print_error

if TYPE_CHECKING:
    from thresher.lm.training.state import TrainingProgress

T = TypeVar("T")
OnProgress = Callable[["TrainingProgress"], None]


class ProgressBars:
    """A `ProgressReporter` that draws a bar for each stage and prints notes as warnings."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self.notes: list[str] = []

    def stage(self, name: str, total: int | None = None) -> Callable[[int], None]:
        """Add a bar and return a function that is called with the number of further steps done."""
        bar = self._bars.add_task(name, total=total)
        return lambda steps: self._bars.advance(bar, steps)

    def step_counter(self, name: str) -> Callable[[int, int], None]:
        """Add a bar and return a function that is called with steps done so far and in total."""
        bar = self._bars.add_task(name, total=None)
        return lambda done, total: self._bars.update(bar, completed=done, total=total)

    def track(self, items: Iterable[T], name: str) -> Iterator[T]:
        """Yield the items and count them with a bar."""
        bar = self._bars.add_task(name, total=None)
        number = 0
        for number, item in enumerate(items, 1):
            yield item
            self._bars.update(bar, completed=number)
        self._bars.update(bar, total=number)

    def note(self, message: str) -> None:
        """Print a warning, even with --quiet, and keep it in `notes`."""
        self.notes.append(message)
        print_error(f"warning: {message}")


@contextmanager
def progress_bars(*, quiet: bool) -> Iterator[ProgressBars]:
    """Show progress bars while the block runs."""
    with _stage_progress(quiet=quiet) as bars:
        yield ProgressBars(bars)


def _stage_progress(*, quiet: bool) -> Progress:
    """Return Rich's progress display with the name of the stage and the time left."""
    time_left = TimeRemainingColumn(compact=True, elapsed_when_finished=True)
    return _rich_progress("{task.description:<10}", time_left, quiet=quiet)


def _rich_progress(label: str, last_column: ProgressColumn, *, quiet: bool) -> Progress:
    """Return Rich's progress display, which disappears when the work is done.

    label: the text before a bar   last_column: the column after it
    """
    return Progress(
        SpinnerColumn(finished_text="✓"),
        TextColumn(label),
        BarColumn(),
        MofNCompleteColumn(),
        last_column,
        console=Console(stderr=True),
        redirect_stdout=False,
        transient=True,
        disable=quiet or not sys.stderr.isatty(),
    )


def print_remark(message: str, *, quiet: bool) -> None:
    """Print a line about the result to standard error if it is a terminal."""
    if not quiet and sys.stderr.isatty():
        Console(stderr=True, highlight=False).print(message, style="dim", markup=False)


@contextmanager
def training_bar(*, quiet: bool) -> Iterator[OnProgress]:
    """Yield a function that updates a bar on standard error, if it is a terminal.

    It appears with the first step and ends with the last: other bars are shown before and after.
    """
    bars = _rich_progress("training", TextColumn("{task.description}"), quiet=quiet)
    bar = bars.add_task("", total=None)

    def show(training: "TrainingProgress") -> None:
        bars.start()
        bars.update(
            bar, total=training.steps, completed=training.step, description=status(training)
        )
        if training.step == training.steps:
            bars.stop()

    try:
        yield show
    finally:
        bars.stop()


@contextmanager
def stage_bars(*, quiet: bool) -> Iterator["StageBars"]:
    """Yield a `ProgressReporter` for stages; its bar is removed even if the work is stopped."""
    bars = StageBars(quiet=quiet)
    try:
        yield bars
    finally:
        bars.close()


class StageBars:
    """A `ProgressReporter` for stages one after the other; each bar ends with its stage."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._bars: Progress | None = None

    def stage(self, name: str, total: int) -> Callable[[int], None]:
        """Show a bar until the returned function has been called with `total` steps."""
        self.close()
        bars = _stage_progress(quiet=self._quiet)
        bar = bars.add_task(name, total=total)
        bars.start()
        self._bars = bars

        def advance(steps: int) -> None:
            bars.advance(bar, steps)
            if bars.finished:
                bars.stop()

        return advance

    def note(self, message: str) -> None:
        """Print a warning, even with --quiet."""
        print_error(f"warning: {message}")

    def close(self) -> None:
        """Remove the present bar; without this the terminal would stay without a cursor."""
        if self._bars is not None:
            self._bars.stop()


def status(training: "TrainingProgress") -> str:
    """Return the loss, speed and time left as text."""
    minutes, seconds = divmod(round(training.seconds_left), 60)
    hours, minutes = divmod(minutes, 60)
    speed = f"{training.tokens_per_second:,.0f} tokens/s"
    return f"loss {training.loss:.3f}  {speed}  {hours}:{minutes:02}:{seconds:02} left"
