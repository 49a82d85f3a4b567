"""Declare options compactly, and group the options of a command into dataclasses.

An option is an annotated type, written once:

    Device = Annotated[str | None, option("cpu, cuda or cuda:1.", metavar="NAME")]

Options that belong together are the fields of an `OptionGroup`. A command takes whole groups:

    @with_option_groups
    def fit(texts: TextOptions, training: TrainingOptions, device: Device = None) -> None: ...

Typer sees every field as an option of its own; the command receives one object per group.
"""

import functools
import math
from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, dataclass, fields
from enum import StrEnum
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, ClassVar, get_args

import typer


def option(help_text: str, *flags: str, **details: Any) -> Any:
    """Return a `typer.Option`; without `flags` it is named after its parameter.

    details: arguments of `typer.Option`, such as metavar, min, max, parser, rich_help_panel
    """
    if "min" in details:
        details.setdefault("callback", _finite)
    return typer.Option(*flags, help=help_text, **details)


number_option = functools.partial(option, metavar="N", min=1)
"""Return an option that takes an integer of at least 1."""
weight_option = functools.partial(option, metavar="WEIGHT", min=0)
"""Return an option that takes the weight of a term of a loss."""
rate_option = functools.partial(option, metavar="RATE", min=0, max=1)
"""Return an option that takes a number from 0 to 1."""


def flag(help_text: str, *flags: str, **details: Any) -> Any:
    """Return an option that is either given or not and takes no value."""
    return typer.Option(*flags, help=help_text, metavar="", **details)


def argument(help_text: str, *, metavar: str) -> Any:
    """Return a `typer.Argument`."""
    return typer.Argument(help=help_text, metavar=metavar, show_default=False)


@dataclass(frozen=True, kw_only=True)
class OptionGroup:
    """Options that belong together; each field is one option.

    panel: the heading of the options in the help, for those that have none of their own
    """

    panel: ClassVar[str | None] = None

    def given_options(self) -> dict[str, Any]:
        """Return the options that the user gave, so that the library can apply its defaults.

        Choices are returned as plain strings, which is how Python users write them.
        """
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            name: value.value if isinstance(value, StrEnum) else value
            for name, value in values.items()
            if value is not None
        }


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each parameter that is an `OptionGroup` by the fields of the group."""
    groups: dict[str, type[OptionGroup]] = {}
    flat: list[Parameter] = []
    for each in signature(command).parameters.values():
        if isinstance(each.annotation, type) and issubclass(each.annotation, OptionGroup):
            groups[each.name] = each.annotation
            flat += _parameters(each.annotation)
        else:
            flat.append(each.replace(kind=Parameter.KEYWORD_ONLY))

    @functools.wraps(command)
    def run(**values: Any) -> None:
        grouped = {
            name: group(**{each.name: values.pop(each.name) for each in fields(group)})
            for name, group in groups.items()
        }
        command(**values, **grouped)

    run.__signature__ = Signature(flat)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in flat}
    return run


def _parameters(group: type[OptionGroup]) -> list[Parameter]:
    """Return the fields of a group as parameters; a field without a default is required."""
    return [
        Parameter(
            each.name,
            Parameter.KEYWORD_ONLY,
            annotation=_in_panel(each.type, group.panel),
            default=each.default if each.default is not MISSING else Parameter.empty,
        )
        for each in fields(group)
    ]


def _in_panel(annotated: Any, panel: str | None) -> Any:
    """Return the type of an option that is shown in a panel, unless it has another one."""
    value_type, details = get_args(annotated)
    if panel is None or details.rich_help_panel is not None:
        return annotated
    details = copy(details)
    details.rich_help_panel = panel
    return Annotated[value_type, details]


def _finite(value: Any) -> Any:
    """Return the value of an option, or refuse infinity and NaN, which satisfy a range."""
    numbers = value if isinstance(value, list) else [value]
    if any(isinstance(number, float) and not math.isfinite(number) for number in numbers):
        raise typer.BadParameter("Input should be a finite number")
    return value
