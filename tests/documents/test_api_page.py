"""docs/api.md names every public name of the package, and every name on it exists."""

import inspect
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType

import pytest

import thresher
from thresher import EntityFinder
from thresher.rationales.finder import RationaleFinder

API_PAGE = Path(__file__).parents[2] / "docs" / "api.md"
CODE = re.compile(r"```python\n(.*?)^```|`([^`\n]+)`", re.MULTILINE | re.DOTALL)
FROM_HUB_MIXIN = {"from_pretrained", "push_to_hub"}  # inherited from huggingface_hub


def packages() -> Iterator[ModuleType]:
    yield thresher
    for found in pkgutil.walk_packages(thresher.__path__, "thresher."):
        if found.ispkg:
            yield import_module(found.name)


def public_names(package: ModuleType) -> set[str]:
    """Return `__all__`, or without one the names that the package defines and exports lazily."""
    if hasattr(package, "__all__"):
        return set(package.__all__)
    return {name for name in dir(package) if is_exported(package, name)}


def is_exported(package: ModuleType, name: str) -> bool:
    value = getattr(package, name)
    defined_in = getattr(value, "__module__", None) or ""
    is_own = defined_in.startswith(f"{package.__name__}.")
    return is_own and not name.startswith("_") and not inspect.ismodule(value)


def public_methods(cls: type) -> set[str]:
    """Return the methods and properties that this package defines."""
    return {
        name
        for each in cls.__mro__
        if each.__module__.startswith("thresher.")
        for name, value in vars(each).items()
        if not name.startswith("_") and (callable(value) or hasattr(value, "__get__"))
    }


def words_in_code() -> set[str]:
    """Return the identifiers in code blocks and inline code."""
    code = CODE.findall(API_PAGE.read_text(encoding="utf-8"))
    return {word for blocks in code for word in re.findall(r"\w+", " ".join(blocks))}


def test_the_page_names_what_every_package_exports():
    exported = {package.__name__: public_names(package) for package in packages()}
    assert {"EntityFinder", "InputError"} <= exported["thresher"]
    assert {"Tokenizer", "learn_tokenizer", "token_counts"} <= exported["thresher.lm.tokens"]
    assert "DivergedError" in exported["thresher.lm.training"]
    named = words_in_code()
    missing = {name: sorted(names - named) for name, names in exported.items() if names - named}
    assert missing == {}


@pytest.mark.parametrize("cls", [EntityFinder, RationaleFinder])
def test_the_page_names_every_public_method(cls):
    methods = public_methods(cls)
    assert {"load", "fit", "save"} <= methods
    assert sorted((methods | FROM_HUB_MIXIN) - words_in_code()) == []


def test_every_dotted_name_on_the_page_exists():
    names = set(re.findall(r"`(thresher(?:\.\w+)+)", API_PAGE.read_text(encoding="utf-8")))
    assert len(names) > 30
    for name in names:
        assert resolve_name(name) is not None
