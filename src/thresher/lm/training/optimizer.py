"""AdamW with its parameter groups, and the learning rate at each step."""

import math

import torch
from torch import nn

from thresher.lm.model import LanguageModel
from thresher.lm.training.settings import LanguageModelSettings

BETAS = (0.9, 0.99)


def adamw(model: LanguageModel, settings: LanguageModelSettings) -> torch.optim.AdamW:
    """Return AdamW; weight decay applies to matrices, and on request to token embeddings."""
    decayed, not_decayed = decay_groups(model, decay_embeddings=settings.decay_embeddings)
    groups = [
        {"params": decayed, "weight_decay": settings.weight_decay},
        {"params": not_decayed, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(
        [group for group in groups if group["params"]],
        lr=settings.learning_rate,
        betas=BETAS,
        fused=model.device.type == "cuda",  # one kernel for all parameters
    )


def decay_groups(
    model: LanguageModel, *, decay_embeddings: bool
) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """Return the parameters with weight decay, and those without.

    Norm weights and biases have none. `decay_embeddings` decides for the input embedding and the
    parameters of the output layer.
    """
    token_parameters = {id(model.embedding), *(id(each) for each in model.output.parameters())}
    decayed: list[nn.Parameter] = []
    not_decayed: list[nn.Parameter] = []
    for parameter in model.parameters():
        allowed = decay_embeddings or id(parameter) not in token_parameters
        (decayed if parameter.dim() >= 2 and allowed else not_decayed).append(parameter)
    return decayed, not_decayed


def learning_rate(step: int, settings: LanguageModelSettings) -> float:
    """Return the rate of step 0, 1, …: it rises linearly, then falls along half a cosine."""
    if step < settings.warm_up:
        return settings.learning_rate * (step + 1) / settings.warm_up
    rest = max(1, settings.steps - settings.warm_up)
    done = min(1.0, (step - settings.warm_up) / rest)
    factor = settings.final_share + (1 - settings.final_share) * (1 + math.cos(math.pi * done)) / 2
    return settings.learning_rate * factor
