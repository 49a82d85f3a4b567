"""Thresher learns which tokens matter, from raw text alone."""

from typing import TYPE_CHECKING

from thresher.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from thresher.entities.finder import EntityFinder
    from thresher.entities.priors.prior_knowledge import PriorKnowledge
    from thresher.entities.training.settings import EntitySettings
    from thresher.errors import InputError
    from thresher.text.annotations import Span
    from thresher.text.corpus import read_texts

__version__ = "0.3.0"
__all__ = [
    "EntityFinder",
    "EntitySettings",
    "InputError",
    "PriorKnowledge",
    "Span",
    "__version__",
    "read_texts",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "thresher.entities.finder": ["EntityFinder"],
        "thresher.entities.priors.prior_knowledge": ["PriorKnowledge"],
        "thresher.entities.training.settings": ["EntitySettings"],
        "thresher.errors": ["InputError"],
        "thresher.text.annotations": ["Span"],
        "thresher.text.corpus": ["read_texts"],
    },
)
