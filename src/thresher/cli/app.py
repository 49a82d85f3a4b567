"""The command `thresher` and its subcommands."""

import os
import platform
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer
from typer.main import get_command

from thresher import __version__
from thresher.cli.errors import exit_status, use_flags_of
from thresher.cli.option_groups import flag
from thresher.errors import InputError

_COMPLETION = "_THRESHER_COMPLETE"  # set by the completion scripts that Typer writes for shells

# The module and the name of the function that runs each command.
_COMMANDS = {
    "find": ("thresher.cli.entities.find", "find"),
    "entities": ("thresher.cli.entities.table", "entities"),
    "fit": ("thresher.cli.entities.fit", "fit"),
    "eval": ("thresher.cli.entities.evaluate", "evaluate"),
    "distill": ("thresher.cli.entities.distill", "distill"),
    "kinds": ("thresher.cli.entities.kinds", "kinds"),
    "export": ("thresher.cli.entities.export", "export"),
    "serve": ("thresher.cli.serve", "serve"),
    "lm train": ("thresher.cli.lm.train", "train"),
    "lm eval": ("thresher.cli.lm.evaluate", "evaluate"),
    "lm report": ("thresher.cli.lm.report", "report"),
    "lm sample": ("thresher.cli.lm.sample", "sample"),
    "lm export": ("thresher.cli.lm.export", "export"),
    "rationale fit": ("thresher.cli.rationales.fit", "fit"),
    "rationale find": ("thresher.cli.rationales.find", "find"),
    "rationale eval": ("thresher.cli.rationales.evaluate", "evaluate"),
}
# The packages of groups of commands; their docstrings are the help of the groups.
_GROUPS = {"lm": "thresher.cli.lm", "rationale": "thresher.cli.rationales"}


def build_app(only: str | None = None) -> typer.Typer:
    """Return the command line with all commands.

    only: one command or group, so that the modules of the others need not be imported
    """
    app = typer.Typer(rich_markup_mode="rich")
    app.callback()(thresher)
    groups = {"": app}
    is_known = any(path.split()[0] == only for path in _COMMANDS)
    for path, (module, function) in _COMMANDS.items():
        if is_known and path.split()[0] != only:
            continue
        group, _, name = path.rpartition(" ")
        if group not in groups:
            groups[group] = typer.Typer(help=import_module(_GROUPS[group]).__doc__)
            app.add_typer(groups[group], name=group)
        groups[group].command(name)(getattr(import_module(module), function))
    return app


def _print_version(context: typer.Context, requested: bool) -> None:
    if requested:
        lines = _how_models_compute() if context.params["verbose"] else []
        typer.echo("\n".join([f"thresher {__version__}", *lines]))
        raise typer.Exit


def _how_models_compute() -> list[str]:
    """Return what the speed of this machine depends on, one line each."""
    import torch  # noqa: PLC0415 (slow to import)

    from thresher.encoders.instruction_set import instruction_set  # noqa: PLC0415 (torch)
    from thresher.encoders.int8_linear import int8_max_weight  # noqa: PLC0415

    weight = int8_max_weight()  # None if this CPU has no exact 8-bit products
    precision = f"int8 (weights from -{weight} to {weight})" if weight else "float32"
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
    return [
        f"python: {platform.python_version()}",
        f"torch: {torch.__version__}, {torch.get_num_threads()} threads",
        f"precision: {precision}",
        f"instruction set: {instruction_set()}",
        f"GPU: {gpu}",
    ]


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
    thresher export -o model.onnx              write a model for ONNX Runtime
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


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command; see `thresher.cli.main`."""
    if _COMPLETION in os.environ:  # a shell requests completions
        build_app()(prog_name="thresher")
    arguments = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    command = get_command(build_app(arguments[0]))
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
