"""Keep old names working for one version, with a DeprecationWarning."""

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def warn_renamed(old: str, new: str, *, stacklevel: int = 3) -> None:
    """Warn the caller of the function that calls this one that `old` is now called `new`."""
    message = f"{old} was renamed to {new}; the old name will be removed"
    warnings.warn(message, DeprecationWarning, stacklevel=stacklevel)


def renamed_arguments(**new_names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function so that it accepts the old names of keyword arguments, with a warning.

    >>> @renamed_arguments(beliefs="prior_knowledge", work="work_dir")
    ... def fit(texts, *, prior_knowledge=None, work_dir=None): ...

    Put it below `@classmethod`.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def with_old_names(*args: P.args, **kwargs: P.kwargs) -> R:
            for old, new in new_names.items():
                if old in kwargs:
                    if new in kwargs:
                        raise TypeError(f"{function.__name__}() got both `{new}` and `{old}`")
                    warn_renamed(f"the argument `{old}`", f"`{new}`")
                    kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return with_old_names

    return decorate
