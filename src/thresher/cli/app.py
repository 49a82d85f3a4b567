"""The command `thresher` and its subcommands."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from typer.main import get_command

from thresher import __version__
from thresher.cli.entities.distill import distill
from thresher.cli.entities.evaluate import evaluate
from thresher.cli.entities.find import find
from thresher.cli.entities.fit import fit
from thresher.cli.errors import exit_status
from thresher.cli.lm.app import lm
from thresher.cli.rationales.app import rationale
from thresher.cli.serve import serve

_COMPLETING = "_THRESHER_COMPLETE"  # set by the scripts that Typer writes for shells

app = typer.Typer(rich_markup_mode="rich")
app.command()(find)
app.command()(fit)
app.command("eval")(evaluate)
app.command()(distill)
app.command()(serve)
app.add_typer(lm, name="lm")
app.add_typer(rationale, name="rationale")


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"thresher {__version__}")
        raise typer.Exit


@app.callback()
def thresher(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            metavar="",
            callback=_show_version,
            is_eager=True,
            help="Show the version.",
        ),
    ] = False,
) -> None:
    """Find the entities of texts, and learn to find those of yours, with no labels.

    thresher find notes.txt                    entities of a text
    thresher fit corpus/*.txt -o my-model      learn from raw text
    thresher find notes.txt --model my-model   use what was learned
    thresher eval gold.conll                   measure, where gold tags exist
    thresher distill my-model corpus.txt -o m  the same, many times faster
    thresher serve                             a page to paste text into
    thresher lm train corpus.txt -o my-lm      a language model from raw text
    thresher rationale fit reviews.jsonl -o m  labels, and the words behind them

    Exit status: 0 if all went well, 1 if something failed or some input could
    not be read, 2 if the command was mistyped, 130 after Ctrl-C.
    """


def _replace_closed_streams() -> None:
    """Python has None for a stream that whoever started it closed: nobody will look at it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; whatever goes wrong is one line."""
    if _COMPLETING in os.environ:  # a shell asks how a command might go on
        app(prog_name="thresher")
    given = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    command = get_command(app)
    _replace_closed_streams()
    for library in ("TRANSFORMERS", "HF_HUB"):  # read when they are imported, which is later
        os.environ.setdefault(f"{library}_VERBOSITY", "error")
    try:
        with command.make_context("thresher", given) as context:
            command.invoke(context)
    except BaseException as error:  # every way to end is an exit status, Ctrl-C among them
        return exit_status(error)
    return 0
