"""Train language models: settings, batches, optimizer, training loop, checkpoints."""

from thresher.lazy_exports import lazy_exports

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "DivergedError": "thresher.lm.training.fit",
        "TrainingData": "thresher.lm.training.state",
        "TrainingProgress": "thresher.lm.training.state",
        "TrainingState": "thresher.lm.training.state",
        "task_for": "thresher.lm.training.state",
        "train": "thresher.lm.training.loop",
    },
    renamed={"Progress": "TrainingProgress", "task_of": "task_for"},
)
