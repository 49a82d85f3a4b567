"""Import the public names of a package when they are first used.

Importing torch takes a second, so `import thresher` and `thresher --help` must not do it.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from thresher.deprecation import warn_renamed


def lazy_exports(
    package: str, homes: Mapping[str, str], *, renamed: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package that imports its names on first use.

    homes: for each public name, the module that defines it
    renamed: for each old name, the new one; using an old name raises a DeprecationWarning
    """
    old_names = renamed or {}

    def get_attribute(name: str) -> Any:
        if name in old_names:
            new_name = old_names[name]
            warn_renamed(f"{package}.{name}", new_name)
            return get_attribute(new_name)
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def list_attributes() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return get_attribute, list_attributes
