"""A progress bar for training: loss, tokens per second and time left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import TextColumn

from thresher.cli.progress import rich_progress

if TYPE_CHECKING:
    from thresher.lm.training.state import TrainingProgress

OnProgress = Callable[["TrainingProgress"], None]


@contextmanager
def training_bar(*, quiet: bool) -> Iterator[OnProgress]:
    """Yield a function that updates a bar on standard error, if it is a terminal."""
    with rich_progress("training", TextColumn("{task.description}"), quiet=quiet) as bars:
        bar = bars.add_task("", total=None)

        def show(training: "TrainingProgress") -> None:
            bars.update(
                bar, total=training.steps, completed=training.step, description=status(training)
            )

        yield show


def status(training: "TrainingProgress") -> str:
    """Return the loss, speed and time left as text."""
    minutes, seconds = divmod(round(training.seconds_left), 60)
    hours, minutes = divmod(minutes, 60)
    speed = f"{training.tokens_per_second:,.0f} tokens/s"
    return f"loss {training.loss:.3f}  {speed}  {hours}:{minutes:02}:{seconds:02} left"
