"""Evaluate a trained language model on a text."""

import torch

from thresher.lm.reports.evaluation import Evaluation, evaluate
from thresher.lm.trained_model import TrainedLanguageModel
from thresher.lm.training.fit import predicted_bytes


def evaluate_text(trained: TrainedLanguageModel, text: str) -> Evaluation:
    """Compute the loss and other metrics of a model on a text, as `thresher lm eval` does."""
    ids = torch.from_numpy(trained.tokenizer.encode(text))
    causal = trained.task.causal
    return evaluate(
        trained.model,
        trained.task,
        ids,
        batch=trained.settings.batch,
        temperature=trained.temperature,
        byte_count=predicted_bytes(trained.tokenizer, ids, text) if causal else None,
    )
