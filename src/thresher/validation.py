"""Refusing a value with the rule it breaks and what is allowed."""

from collections.abc import Sequence

from thresher.errors import InputError


def choose(name: str, value: str, choices: Sequence[str]) -> None:
    """Raise InputError unless the value is one of the choices."""
    if value not in choices:
        raise InputError(f"unknown {name} {value!r}; choose from {', '.join(choices)}")


def require(holds: bool, name: str, value: object, rule: str) -> None:
    """Raise InputError unless the rule holds."""
    if not holds:
        raise InputError(f"{name} must be {rule}; got {value}")
