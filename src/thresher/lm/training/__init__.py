"""Train language models: settings, batches, optimizer, training loop, checkpoints."""

from thresher.lazy_exports import lazy_exports

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "thresher.lm.training.fit": ["DivergedError"],
        "thresher.lm.training.loop": ["train"],
        "thresher.lm.training.state": [
            "TrainingData",
            "TrainingProgress",
            "TrainingState",
            "task_for",
        ],
    },
)
