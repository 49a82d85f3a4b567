"""The one exception that is meant to be read by users, and what its messages have in common."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches

Report = Callable[[str], None]  # is told, in one line, of what had to be passed over


class InputError(ValueError):
    """What the user gave cannot be used; the message is one line that can be shown as it is."""


def refuse(problem: str) -> None:
    """The `Report` of those who want nothing passed over."""
    raise InputError(problem)


_NEAR = 0.7  # of a word in common; less is a common ending, as in missing.txt and long.txt


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """The end of a message about a word that is none of the choices: the one that is near."""
    near = get_close_matches(word, list(choices), n=1, cutoff=_NEAR)
    return f"; did you mean {near[0]}?" if near else ""
