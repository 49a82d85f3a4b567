"""The command `thresher` and its subcommands."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from typer.main import get_command

from thresher.cli.entities.distill import distill
from thresher.cli.entities.evaluate import evaluate
from thresher.cli.entities.find import find
from thresher.cli.entities.fit import fit
from thresher.cli.entities.kinds import kinds
from thresher.cli.entities.table import entities
from thresher.cli.errors import exit_status, use_flags_of
from thresher.cli.lm.app import lm
from thresher.cli.option_groups import flag
from thresher.cli.rationales.app import rationale
from thresher.cli.serve import serve
from thresher.cli.version import version_text
from thresher.errors import InputError

_COMPLETION = "_THRESHER_COMPLETE"  # set by the completion scripts that Typer writes for shells

app = typer.Typer(rich_markup_mode="rich")
app.command()(find)
app.command()(entities)
app.command()(fit)
app.command("eval")(evaluate)
app.command()(distill)
app.command()(kinds)
app.command()(serve)
app.add_typer(lm, name="lm")
app.add_typer(rationale, name="rationale")


def _print_version(context: typer.Context, requested: bool) -> None:
    if requested:
        typer.echo(version_text(verbose=context.params["verbose"]))
        raise typer.Exit


@app.callback()
def thresher(
    version: Annotated[
        bool, flag("Show the version.", "--version", callback=_print_version)
    ] = False,
    verbose: Annotated[
        bool,
        flag(
            "With --version, also show precision and instruction set.", "--verbose", is_eager=True
        ),
    ] = False,
) -> None:
    """Find the entities of texts; train models for your own texts without labels.

    thresher find notes.txt                    find entities in a text
    thresher entities corpus/ -o entities.csv  list the entities of a corpus
    thresher fit corpus/*.txt -o my-model      train a model on raw text
    thresher find notes.txt --model my-model   find entities with that model
    thresher eval gold.conll                   evaluate on annotated text
    thresher distill my-model corpus.txt -o m  make a model many times faster
    thresher kinds corpus.txt -o kinds.toml    discover kinds of entities
    thresher serve                             start a web page and an API
    thresher lm train corpus.txt -o my-lm      train a language model
    thresher rationale fit reviews.jsonl -o m  classify texts with rationales

    Exit status: 0 on success, 1 if something failed or a part of the input could
    not be read, 2 for a mistyped command, 130 after Ctrl-C.
    """
    if verbose:
        raise InputError("--verbose is only used together with --version")


def _replace_closed_streams() -> None:
    """Replace output streams that the caller has closed, which are None in Python."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status; errors are printed as one line."""
    if _COMPLETION in os.environ:  # a shell requests completions
        app(prog_name="thresher")
    arguments = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    command = get_command(app)
    use_flags_of(command, arguments)
    _replace_closed_streams()
    for library in ("TRANSFORMERS", "HF_HUB"):  # which read it when imported
        os.environ.setdefault(f"{library}_VERBOSITY", "error")
    try:
        with command.make_context("thresher", arguments) as context:
            command.invoke(context)
    except BaseException as error:  # Ctrl-C and normal exits, too, become an exit status
        return exit_status(error)
    return 0
