"""Import paths that the documentation of version 0.1 named; delete this module in version 0.3."""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from thresher.deprecation import warn_renamed

MOVED_MODULES = {
    "thresher.encoders.from_text": "thresher.encoders.training",
    "thresher.entities.beliefs": "thresher.entities.priors.prior_knowledge",
    "thresher.entities.distillation": "thresher.entities.training.distillation",
    "thresher.entities.settings": "thresher.entities.training.settings",
    "thresher.entities.switches": "thresher.gates.variants",
    "thresher.lm.fitting": "thresher.lm.training.fit",
    "thresher.lm.learned": "thresher.lm.trained_model",
    "thresher.lm.linear_selfish": "thresher.lm.losses.linear_selfish",
    "thresher.lm.margins": "thresher.lm.losses.margin",
    "thresher.lm.selfish": "thresher.lm.losses.selfish",
    "thresher.lm.settings": "thresher.lm.training.settings",
    "thresher.lm.statistics": "thresher.lm.losses.statistics",
    "thresher.lm.trainer_loss": "thresher.lm.losses.hugging_face",
    "thresher.maths.frequency": "thresher.maths.fourier_filters",
    "thresher.maths.gates": "thresher.maths.gate_forms",
    "thresher.text.words": "thresher.text.sentences",
    "thresher.web.shelf": "thresher.web.models",
}
RENAMED_CLASSES = {
    "Beliefs": "PriorKnowledge",
    "Distillation": "DistillationSettings",
    "LearnedModel": "TrainedLanguageModel",
    "Settings": "EntitySettings",
    "Shelf": "ServedModels",
    "SpoiledRunError": "DivergedError",
    "TrainingSettings": "LanguageModelSettings",
}


class MovedModuleFinder(MetaPathFinder, Loader):
    """Finds old module names; importing one gives the names of the new module and a warning."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for a moved module, None for any other."""
        return ModuleSpec(fullname, self) if fullname in MOVED_MODULES else None

    def exec_module(self, module: ModuleType) -> None:
        """Make the module look up its names in the new one."""
        new_module = import_module(MOVED_MODULES[module.__name__])
        warn_renamed(f"the module {module.__name__}", new_module.__name__, stacklevel=6)

        def get_attribute(name: str) -> Any:
            return getattr(new_module, RENAMED_CLASSES.get(name, name))

        module.__dict__["__getattr__"] = get_attribute


def install() -> None:
    """Let old module names be imported; Python uses this finder only if all others fail."""
    if not any(isinstance(finder, MovedModuleFinder) for finder in sys.meta_path):
        sys.meta_path.append(MovedModuleFinder())
