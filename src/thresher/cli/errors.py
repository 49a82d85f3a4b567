"""Turn every error into one line on standard error and an exit status."""

import os
import re
import sys
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any, cast

import typer

from thresher.errors import ThresherError, did_you_mean

MAX_SHOWN = 100  # problems with the input that are printed one by one

FAILED, MISTYPED, STOPPED, PIPE_CLOSED = 1, 2, 130, 141  # the last two are 128 + a signal's number

# Some versions of Typer bring their own copy of click and others use click itself; this is the
# exception for a mistyped command in both.
UsageError = cast(type[typer.BadParameter], typer.BadParameter.__mro__[1])

# Flags that switch off a Python argument.
_NEGATIVE_FLAGS = {
    "tied=False": "--untied",
    "decay_embeddings=False": "--no-embedding-decay",
    "head_start=False": "--from-scratch",
}
_flags: ContextVar[dict[str, str]] = ContextVar("_flags")
_command_path: ContextVar[str] = ContextVar("_command_path")  # such as "thresher lm train"
# All but the tab and the line feed: ESC begins commands that move the cursor or set the title.
_CONTROL_CHARACTERS = dict.fromkeys([*range(9), *range(11, 32), *range(127, 160)], "�")


def print_error(message: str) -> None:
    """Print one line to standard error, with flags in place of Python arguments."""
    line = without_control_characters(" ".join(message.splitlines()))  # of names in the input
    print("thresher:", with_flags(line, _flags.get({})), file=sys.stderr, flush=True)


def print_note(message: str) -> None:
    """Print a line that is no error and does not change the exit status."""
    print_error(f"note: {message}")


def with_flags(message: str, flags: dict[str, str]) -> str:
    """Replace each Python argument in backquotes by the flag that sets it.

    >>> with_flags("`target_rate` must be below 1", {"target_rate": "--target-rate"})
    "--target-rate must be below 1"
    >>> with_flags("try `margin=2`", {"margin": "--margin"})
    "try --margin 2"
    """

    def flag_for(argument: re.Match[str]) -> str:
        if argument[1] in _NEGATIVE_FLAGS:
            return _NEGATIVE_FLAGS[argument[1]]
        name, _, value = argument[1].partition("=")
        return f"{flags[name]} {value}".strip() if name in flags else argument[0]

    return re.sub(r"`([^`]+)`", flag_for, message)


def use_flags_of(command: Any, arguments: Sequence[str]) -> None:
    """Use the flags and the name of the called subcommand in all later error messages.

    command: the click command of the whole program
    """
    path = ["thresher"]
    for word in arguments:
        subcommands = getattr(command, "commands", {})
        if word not in subcommands:
            break
        command = subcommands[word]
        path.append(word)
    _command_path.set(" ".join(path))
    _flags.set({each.name.strip("_"): _flag(each) for each in command.params if each.name})


def _flag(parameter: Any) -> str:
    """Return the long flag of an option, or the placeholder of an argument."""
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name).strip("[]")
    return str(parameter.opts[0])


class Problems:
    """Counts and prints parts of the input that could not be read; the rest is still processed."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, message: str) -> None:
        """Print a problem, unless there have been many: a wrong field is wrong in every line."""
        self.count += 1
        if self.count <= MAX_SHOWN:
            print_error(message)
        elif self.count == MAX_SHOWN + 1:
            print_error(f"more than {MAX_SHOWN} problems with the input; not showing the others")

    def exit_if_any(self) -> None:
        """Exit with a failure if there were problems, so that lost input is noticed."""
        if self.count > 1:
            shown = (
                "shown above" if self.count <= MAX_SHOWN else f"the first {MAX_SHOWN} shown above"
            )
            print_error(f"{self.count:,} problems with the input, {shown}; the rest was processed")
        if self.count:
            raise typer.Exit(FAILED)


def exit_status(error: BaseException) -> int:
    """Print what happened and return the exit status for it."""
    if isinstance(error, typer.Exit):
        return error.exit_code
    if isinstance(error, SystemExit):  # Rich raises it when the reader of a help text goes away
        return PIPE_CLOSED
    if isinstance(error, BrokenPipeError):
        _discard_standard_output()
        return PIPE_CLOSED
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        print_error(str(error) or "stopped")
        return STOPPED
    if isinstance(error, UsageError):
        print_error(_usage(error))
        return MISTYPED
    if "THRESHER_DEBUG" in os.environ:
        raise error
    print_error(_reason(error))
    return FAILED


def _discard_standard_output() -> None:
    """Keep Python from flushing output at exit to a reader that has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: typer.BadParameter) -> str:
    message = error.format_message().replace("Value error, ", "")
    if unknown := re.search(r"'([^']*)' is not one of (.*)\.$", message):
        hint = did_you_mean(unknown[1], re.findall(r"'([^']*)'", unknown[2]))
        message = message.rstrip(".") + hint
    where = error.ctx.command_path if error.ctx else _command_path.get("thresher")
    return f"{message} (see {where} --help)"


def _reason(error: BaseException) -> str:
    if isinstance(error, ThresherError | ValueError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename or 'the system'}: {error.strerror or error}"
    return f"unexpected {type(error).__name__}: {error} (set THRESHER_DEBUG=1 to see the traceback)"


def without_control_characters(text: str) -> str:
    """Return a text with U+FFFD in place of each control character but tab and line feed."""
    return text.translate(_CONTROL_CHARACTERS)
