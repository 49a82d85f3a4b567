"""What went wrong: one line on standard error and an exit status, never a traceback."""

import os
import sys
from typing import cast

import typer

TOLD = 100  # problems that are told one by one

FAILED, MISTYPED, STOPPED, PIPE_CLOSED = 1, 2, 130, 141  # the last two are 128 + a signal's number

# Typer brings its own copy of click, or uses click itself, as its version has it; this is the
# exception for a mistyped command in either.
UsageError = cast(type[typer.BadParameter], typer.BadParameter.__mro__[1])


def complain(message: str) -> None:
    """Put one line on standard error."""
    print("thresher:", " ".join(message.splitlines()), file=sys.stderr, flush=True)


class Problems:
    """Parts of the input that had to be passed over: the first are told, the rest goes on."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, message: str) -> None:
        """Tell of one, unless many were told already: a wrong field is wrong in every line."""
        self.count += 1
        if self.count <= TOLD:
            complain(message)
        elif self.count == TOLD + 1:
            complain(f"more than {TOLD} problems with the input: the others are counted")

    def conclude(self) -> None:
        """End with a failure if there were any: what was lost must not go unnoticed."""
        if self.count > 1:
            told = "told above" if self.count <= TOLD else f"the first {TOLD} told above"
            complain(f"{self.count:,} problems with the input, {told}; the rest was read")
        if self.count:
            raise typer.Exit(FAILED)


def exit_status(error: BaseException) -> int:
    """The exit status that an error stands for, after telling the user what happened."""
    if isinstance(error, typer.Exit):
        return error.exit_code
    if isinstance(error, SystemExit):  # Rich's, when the reader of a help text goes away
        return PIPE_CLOSED
    if isinstance(error, BrokenPipeError):
        _forget_standard_output()
        return PIPE_CLOSED
    if isinstance(error, KeyboardInterrupt | typer.Abort):
        complain(str(error) or "stopped")
        return STOPPED
    if isinstance(error, UsageError):
        complain(_usage(error))
        return MISTYPED
    if "THRESHER_DEBUG" in os.environ:
        raise error
    complain(_reason(error))
    return FAILED


def _forget_standard_output() -> None:
    """The reader has gone: Python must not try to flush the rest when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: typer.BadParameter) -> str:
    where = error.ctx.command_path if error.ctx else "thresher"
    return f"{error.format_message()} (see {where} --help)"


def _reason(error: BaseException) -> str:
    if isinstance(error, ValueError):  # InputError among them: written to be read
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename or 'the system'}: {error.strerror or error}"
    return f"unexpected {type(error).__name__}: {error} (THRESHER_DEBUG=1 shows where)"
