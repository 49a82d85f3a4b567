"""Let public functions accept the old names of their arguments for one more version."""

import functools
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def renamed_arguments(
    **new_names: str,
) -> Callable[[Callable[_Parameters, _Result]], Callable[_Parameters, _Result]]:
    """Decorate a function so that old keyword arguments work and raise a DeprecationWarning.

    >>> @renamed_arguments(work="work_dir")
    ... def train(text, *, work_dir=None): ...
    >>> train("text", work=Path("run"))  # the same as work_dir=Path("run")
    """

    def decorate(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
        @functools.wraps(function)
        def call(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
            for old in new_names.keys() & kwargs.keys():
                new = new_names[old]
                if new in kwargs:
                    raise TypeError(
                        f"{function.__name__}() got both `{new}` and its old name `{old}`"
                    )
                message = f"`{old}` of {function.__name__}() was renamed to `{new}`"
                warnings.warn(message, DeprecationWarning, stacklevel=2)
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return call

    return decorate
