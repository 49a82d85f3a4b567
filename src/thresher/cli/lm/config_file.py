"""The option --config: take options from a TOML file."""

from pathlib import Path
from typing import Annotated, Any

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
    named = {}
    for given_name, value in options.items():
        name = by_flag.get(given_name, given_name)
        named[name] = _as_on_command_line(path, given_name, value, known[name])
    context.default_map = {**(context.default_map or {}), **named}
    return path


def _as_on_command_line(path: Path, name: str, value: Any, parameter: Any) -> Any:
    """Return a value as text, as the command line gives it, so that it is checked in the same way.

    A default that is already a number is converted without these checks: true would be 1.
    """
    rule = None
    if getattr(parameter, "is_flag", False):
        rule = None if isinstance(value, bool) else "true or false"
    elif parameter.nargs == -1:
        rule = None if isinstance(value, list) else "a list"
    elif isinstance(value, bool) or not isinstance(value, str | int | float):
        rule = "text or a number"
    else:
        value = str(value)
    if rule is not None:
        raise InputError(f"{path}: {name} must be {rule}, got {str(value).lower()}")
    return value


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
