"""Train language models: settings, batches, optimizer, training loop, checkpoints."""

from typing import TYPE_CHECKING

from thresher.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from thresher.lm.training.fit import DivergedError, fit_language_model
    from thresher.lm.training.loop import train
    from thresher.lm.training.settings import LanguageModelSettings
    from thresher.lm.training.state import TrainingData, TrainingProgress, TrainingState, task_for

__all__ = [
    "DivergedError",
    "LanguageModelSettings",
    "TrainingData",
    "TrainingProgress",
    "TrainingState",
    "fit_language_model",
    "task_for",
    "train",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "DivergedError": "thresher.lm.training.fit",
        "LanguageModelSettings": "thresher.lm.training.settings",
        "TrainingData": "thresher.lm.training.state",
        "TrainingProgress": "thresher.lm.training.state",
        "TrainingState": "thresher.lm.training.state",
        "fit_language_model": "thresher.lm.training.fit",
        "task_for": "thresher.lm.training.state",
        "train": "thresher.lm.training.loop",
    },
    renamed={
        "Progress": "TrainingProgress",
        "task_of": "task_for",
    },
)
