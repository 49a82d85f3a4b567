"""Load models and encoders, and choose the device that they run on."""

import os
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from thresher.bulk.finder_choice import FinderChoice
from thresher.bulk.workers import FinderPool, LocalFinder, start_workers
from thresher.cli.errors import print_note
from thresher.cli.progress import progress_bars
from thresher.errors import InputError, ThresherError

if TYPE_CHECKING:
    import torch

    from thresher import EntityFinder
    from thresher.encoders import Encoder
    from thresher.entities.finding.text_finder import TextFinder
    from thresher.lm.trained_model import TrainedLanguageModel
    from thresher.rationales.finder import RationaleFinder


def load_finder(choice: FinderChoice, *, quiet: bool) -> "TextFinder":
    """Load a finder of any type in this process: also of an ONNX file, or one for each text."""
    with _loading(choice.device, quiet=quiet):
        finder = choice.load()
    _note_missing_int8(finder, exact=choice.exact)
    return finder


def load_entity_finder(choice: FinderChoice, *, quiet: bool) -> "EntityFinder":
    """Load the `EntityFinder` of one model in this process."""
    with _loading(choice.device, quiet=quiet):
        finder = choice.load_entity_finder()
    _note_missing_int8(finder, exact=choice.exact)
    return finder


@contextmanager
def open_finders(choice: FinderChoice, *, workers: int | None, quiet: bool) -> Iterator[FinderPool]:
    """Load a finder in this process, or start `workers` processes that each load one."""
    with ExitStack() as stack:
        with _loading(choice.device, quiet=quiet):
            if workers is None:
                finders: FinderPool = LocalFinder(choice.load())
            else:
                finders = stack.enter_context(start_workers(choice.load, workers))
        _note_missing_int8(finders, exact=choice.exact)
        yield finders


def _note_missing_int8(finder: "TextFinder | FinderPool", *, exact: bool) -> None:
    """Print a note if the finder had to fall back to float32."""
    if finder.lacks_int8 and not exact:
        print_note(
            "this CPU has no exact 8-bit products; the model computes in float32, which is about "
            "half as fast"
        )


def load_rationales(folder: Path, *, device: str | None, quiet: bool) -> "RationaleFinder":
    """Load the rationale model of a folder."""
    with _loading(device, quiet=quiet):
        from thresher.rationales.finder import RationaleFinder  # noqa: PLC0415 (torch)

        return RationaleFinder.load(folder, device=device)


def load_encoder(
    name: str | None, *, layer: int | None = None, device: str | None, quiet: bool
) -> "Encoder":
    """Load an encoder.

    name: a folder or a name on the Hub; None for the default encoder
    layer: the layer whose hidden states are used; None for the encoder's default
    """
    with _loading(device, quiet=quiet):
        from thresher.encoders import loading  # noqa: PLC0415 (torch is slow to import)

        return loading.load_encoder(name or loading.DEFAULT_ENCODER, layer=layer, device=device)


def load_language_model(folder: Path, *, device: str | None = None) -> "TrainedLanguageModel":
    """Load the language model of a folder."""
    from thresher.lm.trained_model import TrainedLanguageModel  # noqa: PLC0415 (torch)

    return TrainedLanguageModel.read(folder, device=chosen_device(device))


def chosen_device(name: str | None) -> "torch.device":
    """Return the device with this name; by default a GPU if there is one, else the CPU."""
    import torch  # noqa: PLC0415 (slow to import)

    name = name or ("cuda" if torch.cuda.is_available() else "cpu")
    with _device_errors(name):
        device = torch.device(name)
        torch.empty(0, device=device)
    return device


@contextmanager
def _loading(device: str | None, *, quiet: bool) -> Iterator[None]:
    """Show a progress bar, and raise `InputError` if torch cannot use the device."""
    with (
        progress_bars(quiet=quiet) as progress,
        warnings.catch_warnings(action="ignore"),
        _device_errors(device),
    ):
        progress.stage("loading")
        yield


@contextmanager
def _device_errors(device: str | None) -> Iterator[None]:
    """Turn the errors that torch raises for a device that it cannot use into an `InputError`."""
    try:
        yield
    except ThresherError:
        raise
    except (RuntimeError, AssertionError) as error:
        if device is None:
            raise
        reason = str(error).splitlines()[0]
        raise InputError(f"cannot use the device {device!r}: {reason}") from error


def set_thread_defaults() -> None:
    """Set the variables that torch and numpy read when they are imported, unless the user did.

    Waiting threads of torch would keep a core busy; if a server and its clients share two cores,
    short texts take twenty times as long. The products that numpy computes for models
    without a transformer are too small for several threads, which would only take more CPU time.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
