"""The option --config: take options from a TOML file."""

from pathlib import Path
from typing import Annotated

import typer

from thresher.cli.option_groups import option
from thresher.errors import InputError, did_you_mean


def use_run_config(context: typer.Context, path: Path | None) -> Path | None:
    """Take the options of a TOML file as defaults of the command line."""
    if path is None:
        return None
    from thresher.lm.run_config import read_run_config  # noqa: PLC0415

    known = {each.name: each for each in context.command.params if each.name != "config"}
    options = read_run_config(path)
    by_flag = {
        flag_name.lstrip("-").replace("-", "_"): name
        for name, each in known.items()
        for flag_name in each.opts
        if name is not None
    }
    for name in options:
        if name not in by_flag and name not in known:
            hint = did_you_mean(name, by_flag)
            raise InputError(f"{path}: there is no option {name!r}{hint}")
    named = {by_flag.get(name, name): value for name, value in options.items()}
    context.default_map = {**(context.default_map or {}), **named}
    return path


RunConfig = Annotated[
    Path | None,
    option(
        "A TOML file with options, such as steps = 5000. Options on the command line override it. "
        "Every trained model contains such a file, run.toml.",
        "--config",
        metavar="FILE",
        is_eager=True,
        callback=use_run_config,
    ),
]
