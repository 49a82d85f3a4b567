"""Thresher learns which tokens matter, from raw text alone."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder
    from thresher.entities.priors.prior_knowledge import Beliefs
    from thresher.entities.training.settings import Settings
    from thresher.errors import InputError
    from thresher.text.annotations import Span
    from thresher.text.corpus import read_texts

__version__ = "0.1.0"
__all__ = [
    "Beliefs",
    "EntityFinder",
    "InputError",
    "Settings",
    "Span",
    "__version__",
    "read_texts",
]

_HOMES = {
    "Beliefs": "thresher.entities.priors.prior_knowledge",
    "EntityFinder": "thresher.entities.finder",
    "InputError": "thresher.errors",
    "Settings": "thresher.entities.training.settings",
    "Span": "thresher.text.annotations",
    "read_texts": "thresher.text.corpus",
}


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first asked for: torch alone takes a second."""
    if name not in _HOMES:
        raise AttributeError(f"module 'thresher' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
