"""Check arguments and settings; raise InputError with the rule, the value and the choices.

Messages name the argument in backquotes, so that the command line can show its flag instead.
"""

import operator
from collections.abc import Iterable

from thresher.errors import InputError


def require(condition: bool, name: str, value: object, rule: str) -> None:
    """Raise "`name` must be {rule}, got {value}" unless the condition is true."""
    if not condition:
        raise InputError(f"`{name}` must be {rule}, got {value}")


def require_choice(name: str, value: str, choices: Iterable[str]) -> None:
    """Raise InputError unless the value is one of the choices, for example of a `StrEnum`."""
    names = list(map(str, choices))
    if value not in names:
        raise InputError(f"unknown `{name}` {value!r}; choose from {', '.join(names)}")


def require_number(
    name: str,
    value: float,
    *,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
) -> None:
    """Raise InputError unless the value is within all given bounds; NaN never is.

    >>> require_number("dropout", 1.0, at_least=0, below=1)
    InputError: `dropout` must be at least 0 and below 1, got 1.0
    """
    bounds = [
        ("at least", at_least, operator.ge),
        ("above", above, operator.gt),
        ("at most", at_most, operator.le),
        ("below", below, operator.lt),
    ]
    given = [(words, bound, compare) for words, bound, compare in bounds if bound is not None]
    valid = all(compare(value, bound) for _, bound, compare in given)
    require(valid, name, value, " and ".join(f"{words} {bound:g}" for words, bound, _ in given))


def require_fields(settings: object, names: Iterable[str], **bounds: float) -> None:
    """Call `require_number` for several attributes of an object; None is allowed there."""
    for name in names:
        value = getattr(settings, name)
        if value is not None:
            require_number(name, value, **bounds)
