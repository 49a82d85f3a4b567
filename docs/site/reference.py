"""Write the pages of the API reference: one for each package, from its public names."""

import inspect
import pkgutil
import re
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import thresher

REFERENCE = "reference"  # a folder in docs/ that is not part of the repository
_API_PAGE = Path(__file__).parents[1] / "api.md"
_NOT_OURS = "Module, Distribution, Exception, StrEnum, tuple, dict, Generic, Protocol, ABC"


def write_reference(folder: Path) -> None:
    """Write a page for each package, and an index of them."""
    folder.mkdir(exist_ok=True)
    pages = public_objects()
    for package, objects in pages.items():
        title = f"{package}\n{'=' * len(package)}\n\n{_summary(package)}\n\n"
        text = title + "".join(_directive(name, value) for name, value in objects.items())
        _write(folder / f"{package}.rst", text)
    listed = "\n   ".join(pages)
    title = "API reference\n=============\n\n"
    intro = "The public names, from their docstrings; :doc:`/api` explains what they are for.\n"
    _write(folder / "index.rst", f"{title}{intro}\n.. toctree::\n\n   {listed}\n")


def public_objects() -> dict[str, dict[str, object]]:
    """Return the public classes and functions of each package, by their full names.

    They are the names in `__all__` of packages, and those that docs/api.md mentions with a module.
    """
    found: dict[str, dict[str, object]] = defaultdict(dict)
    modules = ["thresher", *(each.name for each in _packages())]
    named = [f"{name}.{each}" for name in modules for each in _exported(name)]
    page = _API_PAGE.read_text("utf-8").partition("## Renamed")[0]
    named += re.findall(r"`(thresher(?:\.\w+)+)", page)
    for dotted in named:
        value = pkgutil.resolve_name(dotted)
        if not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        if value.__module__.startswith("thresher"):
            parts = value.__module__.split(".")
            package = ".".join(parts[:2]) if len(parts) > 2 else "thresher"
            found[package][f"{value.__module__}.{value.__qualname__}"] = value
    return {
        name: dict(sorted(found[name].items(), key=lambda each: each[0].split(".")[-1]))
        for name in sorted(found)
    }


def _packages() -> list[pkgutil.ModuleInfo]:
    return [each for each in pkgutil.walk_packages(thresher.__path__, "thresher.") if each.ispkg]


def _exported(package: str) -> list[str]:
    return list(getattr(import_module(package), "__all__", []))


def _summary(package: str) -> str:
    return (inspect.getdoc(import_module(package)) or "").partition("\n")[0].replace("`", "``")


def _directive(name: str, value: object) -> str:
    if not inspect.isclass(value):
        return f".. autofunction:: {name}\n\n"
    return f".. autoclass:: {name}\n   :members:\n   :inherited-members: {_NOT_OURS}\n\n"


def _write(path: Path, text: str) -> None:
    """Write a page unless it is there already: the generator looks at times of changes."""
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, encoding="utf-8")
