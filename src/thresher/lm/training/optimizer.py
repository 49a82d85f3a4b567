"""AdamW over groups of parameters, and the learning rate at each step."""

import math

import torch
from torch import nn

from thresher.lm.model import LanguageModel
from thresher.lm.training.settings import LanguageModelSettings

_BETAS = (0.9, 0.99)


def adamw(model: LanguageModel, settings: LanguageModelSettings) -> torch.optim.AdamW:
    """AdamW that decays matrices alone, and the rows of tokens only if the settings say so."""
    decayed, free = decay_groups(model, decay_embeddings=settings.decay_embeddings)
    groups = [
        {"params": decayed, "weight_decay": settings.weight_decay},
        {"params": free, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(
        [group for group in groups if group["params"]],
        lr=settings.learning_rate,
        betas=_BETAS,
        fused=model.device.type == "cuda",  # one launch for all parameters
    )


def decay_groups(
    model: LanguageModel, *, decay_embeddings: bool
) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """Parameters that decay, and those that do not: gains, biases and perhaps tokens' rows."""
    tokens = {id(model.embedding), *(id(each) for each in model.output.parameters())}
    decayed: list[nn.Parameter] = []
    free: list[nn.Parameter] = []
    for parameter in model.parameters():
        is_matrix = parameter.dim() >= 2 and (decay_embeddings or id(parameter) not in tokens)
        (decayed if is_matrix else free).append(parameter)
    return decayed, free


def learning_rate(step: int, settings: LanguageModelSettings) -> float:
    """Of step 0, 1, …: a straight line up over `warm_up` steps, then a half cosine down."""
    if step < settings.warm_up:
        return settings.learning_rate * (step + 1) / settings.warm_up
    rest = max(1, settings.steps - settings.warm_up)
    done = min(1.0, (step - settings.warm_up) / rest)
    share = settings.final_share + (1 - settings.final_share) * (1 + math.cos(math.pi * done)) / 2
    return settings.learning_rate * share
