"""How long-running functions report their progress."""

from collections.abc import Callable
from typing import Protocol


class ProgressReporter(Protocol):
    """Receives the progress of long-running work, for example to draw progress bars."""

    def stage(self, name: str, total: int) -> Callable[[int], None]:
        """Start a stage of `total` steps; the returned function is called with steps done."""
        ...

    def note(self, message: str) -> None:
        """Receive one line that the user should see."""
        ...


class SilentProgress:
    """A `ProgressReporter` that ignores everything."""

    def stage(self, name: str, total: int) -> Callable[[int], None]:
        """Return a function that ignores the steps done."""
        return lambda steps: None

    def note(self, message: str) -> None:
        """Ignore the message."""
