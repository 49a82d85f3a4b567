"""How far training is: a bar with the loss, tokens a second and the time left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import TextColumn

from thresher.cli.progress import bars_of

if TYPE_CHECKING:
    from thresher.lm.training.loop import TrainingProgress as Training

OnProgress = Callable[["Training"], None]


@contextmanager
def training_shown(*, quiet: bool) -> Iterator[OnProgress]:
    """A function that moves a bar on standard error, if that is a terminal."""
    with bars_of("training", TextColumn("{task.description}"), quiet=quiet) as bars:
        bar = bars.add_task("", total=None)

        def show(training: "Training") -> None:
            bars.update(
                bar, total=training.steps, completed=training.step, description=state(training)
            )

        yield show


def state(training: "Training") -> str:
    """The state of training in a few words."""
    minutes, seconds = divmod(round(training.seconds_left), 60)
    hours, minutes = divmod(minutes, 60)
    speed = f"{training.tokens_per_second:,.0f} tokens/s"
    return f"loss {training.loss:.3f}  {speed}  {hours}:{minutes:02}:{seconds:02} left"
