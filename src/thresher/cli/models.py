"""Loading encoders and finders, with something to look at meanwhile."""

import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from thresher.bulk.finder_choice import ModelChoice
from thresher.bulk.workers import Finders, OneFinder, started
from thresher.cli.progress import shown
from thresher.errors import InputError

if TYPE_CHECKING:
    from thresher import EntityFinder
    from thresher.encoders import Encoder
    from thresher.rationales.finder import RationaleFinder


def load_finder(model: ModelChoice, *, quiet: bool) -> "EntityFinder":
    """A finder in this process."""
    with _loading(model.device, quiet=quiet):
        return model.load()


@contextmanager
def open_finders(model: ModelChoice, *, workers: int | None, quiet: bool) -> Iterator[Finders]:
    """A finder in this process, or in each of so many others while the block runs."""
    with ExitStack() as stack:
        with _loading(model.device, quiet=quiet):
            if workers is None:
                finders: Finders = OneFinder(model.load())
            else:
                finders = stack.enter_context(started(model.load, workers))
        yield finders


def load_rationales(folder: Path, *, device: str | None, quiet: bool) -> "RationaleFinder":
    """The model of rationales in a folder."""
    with _loading(device, quiet=quiet):
        from thresher.rationales.finder import RationaleFinder  # noqa: PLC0415 (torch)

        return RationaleFinder.load(folder, device=device)


def load_encoder(
    name: str | None, *, layer: int | None = None, device: str | None, quiet: bool
) -> "Encoder":
    """The encoder of that name, or the default one, that reads its usual layer or another."""
    with _loading(device, quiet=quiet):
        from thresher.encoders import loading  # noqa: PLC0415 (torch; help does without)

        return loading.load_encoder(name or loading.DEFAULT_ENCODER, layer=layer, device=device)


@contextmanager
def _loading(device: str | None, *, quiet: bool) -> Iterator[None]:
    """Show that something goes on, and tell of a device that is not there."""
    try:
        with shown(quiet=quiet) as progress, warnings.catch_warnings(action="ignore"):
            progress.stage("loading")
            yield
    except (RuntimeError, AssertionError) as error:  # what torch raises for an unknown device
        if device is None:
            raise
        reason = str(error).splitlines()[0]
        raise InputError(f"cannot use the device {device!r}: {reason}") from error
