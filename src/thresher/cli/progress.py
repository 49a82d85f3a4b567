"""How far long work has come: bars on a terminal, nothing elsewhere."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars

from thresher.cli.errors import complain

T = TypeVar("T")


class ProgressBars:
    """Tells a user what goes on; what `EntityFinder.fit_words` wants as its `progress`."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self.notes: list[str] = []

    def stage(self, name: str, total: int | None = None) -> Callable[[int], None]:
        """A new bar; the function it returns counts steps done."""
        bar = self._bars.add_task(name, total=total)
        return lambda steps: self._bars.advance(bar, steps)

    def steps(self, name: str) -> Callable[[int, int], None]:
        """A new bar; the function it returns tells how many steps are done, and of how many."""
        bar = self._bars.add_task(name, total=None)
        return lambda done, total: self._bars.update(bar, completed=done, total=total)

    def counted(self, things: Iterable[T], name: str) -> Iterator[T]:
        """The same things, with a bar that counts them as they are taken."""
        bar = self._bars.add_task(name, total=None)
        number = 0
        for number, thing in enumerate(things, 1):
            yield thing
            self._bars.update(bar, completed=number)
        self._bars.update(bar, total=number)

    def note(self, message: str) -> None:
        """A warning, kept and shown even where progress is not."""
        self.notes.append(message)
        complain(f"warning: {message}")


@contextmanager
def shown(*, quiet: bool) -> Iterator[ProgressBars]:
    """Bars on standard error while the block runs, if it is a terminal."""
    left = TimeRemainingColumn(compact=True, elapsed_when_finished=True)
    with bars_of("{task.description:<10}", left, quiet=quiet) as bars:
        yield ProgressBars(bars)


def bars_of(name: str, last: ProgressColumn, *, quiet: bool) -> Bars:
    """Bars on standard error, if it is a terminal, that are gone when the work is done.

    name: what stands before a bar   last: what stands behind it
    """
    return Bars(
        SpinnerColumn(finished_text="✓"),
        TextColumn(name),
        BarColumn(),
        MofNCompleteColumn(),
        last,
        console=Console(stderr=True),
        redirect_stdout=False,
        transient=True,
        disable=quiet or not sys.stderr.isatty(),
    )


def remark(message: str, *, quiet: bool) -> None:
    """A line about what was done, for someone who looks on."""
    if not quiet and sys.stderr.isatty():
        Console(stderr=True, highlight=False).print(message, style="dim", markup=False)
