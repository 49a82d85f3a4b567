"""Exceptions whose one-line messages are written for users, and helpers to raise them."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches

WarningHandler = Callable[[str], None]  # receives one line about input that had to be skipped


class ThresherError(Exception):
    """Base class of all errors whose message is one line that can be shown as it is.

    A message names Python arguments in backquotes (`target_rate`); the command line replaces
    them by its flags (--target-rate).
    """


class InputError(ThresherError, ValueError):
    """A file, text, option or argument given by the user cannot be used."""


class TrainingError(ThresherError, RuntimeError):
    """Training failed although its input was valid, for example because the loss became NaN."""


class WorkerError(ThresherError, RuntimeError):
    """A worker process or a remote actor died or failed."""


def raise_input_error(message: str) -> None:
    """Raise `InputError(message)`: the `WarningHandler` that allows nothing to be skipped."""
    raise InputError(message)


@contextlib.contextmanager
def os_errors_as_input_errors(action: str) -> Iterator[None]:
    """Turn an OSError into an InputError that says which action failed and why.

    BrokenPipeError is not an error of the user and passes unchanged.

    >>> with os_errors_as_input_errors(f"cannot write {path}"):
    ...     path.write_bytes(content)
    InputError: cannot write model/config.json: No space left on device
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise InputError(f"{action}: {error.strerror or error}") from error


@contextlib.contextmanager
def requires_extra(extra: str, reason: str) -> Iterator[None]:
    """Turn an ImportError into an InputError that names the pip command.

    extra: the optional dependency group of this package   reason: "Parquet files need pyarrow"

    >>> with requires_extra("parquet", "Parquet files need pyarrow"):
    ...     import pyarrow
    InputError: Parquet files need pyarrow: pip install '.[parquet]' in the source folder …
    """
    try:
        yield
    except ImportError as error:
        raise InputError(f"{reason}: {install_command(extra)}") from error


def install_command(extra: str, *, options: str = "") -> str:
    """Return the pip command that installs an extra from the source folder, without an index."""
    return f"pip install {options}'.[{extra}]' in the source folder of Thresher"


_SIMILARITY = 0.7  # below this, two names often share no more than an ending such as ".txt"


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return "; did you mean …?" with the most similar choice, or "" if none is similar."""
    by_case = {each.casefold(): each for each in choices}
    similar = get_close_matches(word.casefold(), list(by_case), n=1, cutoff=_SIMILARITY)
    return f"; did you mean {by_case[similar[0]]}?" if similar else ""
