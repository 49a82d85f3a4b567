"""The data, the progress and the state of a training run."""

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor

from thresher.errors import InputError
from thresher.lm.losses.kernels.choice import suits_triton
from thresher.lm.losses.rare_tokens import rare_token_adjustment
from thresher.lm.model import Architecture, LanguageModel, seeded_model
from thresher.lm.output_layers.full import FullSoftmax
from thresher.lm.reports.gradient_roles import RoleGradients, can_measure_roles
from thresher.lm.training.batches import Task, WeightedPart
from thresher.lm.training.log import LogRow
from thresher.lm.training.optimizer import adamw
from thresher.lm.training.settings import LanguageModelSettings

_MIN_FUSED_LOGITS = 2**24  # of a batch: 64 MiB in float32


@dataclass(frozen=True)
class TrainingData:
    """Token ids for training and validation.

    train, validation: (tokens,), any integer dtype
    counts: (vocabulary,), how often each token occurs in `train`
    parts: consecutive texts in `train`, with the fraction of training windows that each one gets;
        by default `train` is one text
    """

    train: Tensor
    validation: Tensor
    counts: Tensor
    parts: tuple[WeightedPart, ...] = ()

    def texts(self) -> tuple[Tensor, ...]:
        """Return the training ids of each part."""
        lengths = [part.tokens for part in self.parts] or [len(self.train)]
        if sum(lengths) != len(self.train):
            raise InputError(
                f"`parts` have {sum(lengths)} tokens in total, but `train` has {len(self.train)}"
            )
        return torch.split(self.train, lengths)


@dataclass(frozen=True)
class TrainingProgress:
    """The progress of a run: steps, mean loss since the last evaluation, speed, time left."""

    step: int
    steps: int
    loss: float
    tokens_per_second: float
    seconds_left: float


@dataclass
class TrainingState:
    """Everything that changes during training, so that a run can be saved and resumed.

    roles: sums of gradient norms, if they are measured
    adjustment: (vocabulary,), added to the logits in steps that favour rare tokens
    best: the weights with the lowest validation loss so far, which is `best_loss`, from step
        `best_step`. In steps that favour rare tokens it is the loss of the adjusted logits
    log: a row for each evaluation
    """

    model: LanguageModel
    optimizer: torch.optim.AdamW
    roles: RoleGradients | None
    adjustment: Tensor | None = None
    step: int = 0
    best_step: int = 0
    best_loss: float = math.inf
    best: dict[str, Tensor] = field(default_factory=dict)
    log: list[LogRow] = field(default_factory=list)

    @classmethod
    def new(
        cls,
        architecture: Architecture,
        settings: LanguageModelSettings,
        counts: Tensor,
        *,
        device: torch.device | str = "cpu",
    ) -> "TrainingState":
        """Return the state before the first step, which depends only on the seed."""
        model = seeded_model(architecture, seed=settings.seed, frequencies=counts).to(device)
        adjustment = None
        if isinstance(model.output, FullSoftmax):
            model.output.label_smoothing = settings.label_smoothing
            model.output.fused = _use_fused_loss(model, settings)
            adjustment = _adjustment(model.output, counts, settings.rare_token_budget)
        elif not settings.has_plain_loss:
            raise InputError(
                f"the output layer {architecture.output!r} supports neither `margin` nor "
                "`label_smoothing` nor `rare_token_budget`"
            )
        elif settings.fused:
            raise InputError(f"the output layer {architecture.output!r} has no fused loss")
        measure_roles = settings.roles and not settings.cosine and can_measure_roles(model)
        roles = (
            RoleGradients.zeros(architecture.vocabulary, device=device) if measure_roles else None
        )
        return cls(model, adamw(model, settings), roles, adjustment)


def _adjustment(output: FullSoftmax, counts: Tensor, budget: float | None) -> Tensor | None:
    """Return the adjustment of the logits that spends a budget for rare tokens, if any."""
    if not budget:
        return None
    if output.adjustment is not None:
        raise InputError(
            "the output layer 'adjusted' has an adjustment of its own; it supports no "
            "`rare_token_budget`"
        )
    return rare_token_adjustment(counts, budget=budget).to(output.weight.device)


def _use_fused_loss(model: LanguageModel, settings: LanguageModelSettings) -> bool:
    """Return whether to compute the loss without holding all logits.

    By default this is done on a GPU with Triton, unless the logits of a batch are few.
    """
    possible = isinstance(model.output, FullSoftmax) and model.output.can_be_fused()
    if settings.fused is not None:
        if settings.fused and not possible:
            raise InputError(
                f"the output layer {model.architecture.output!r} changes its logits, so that it "
                "has no `fused` loss; choose full"
            )
        return settings.fused
    shape = model.architecture.shape
    logits = settings.batch * shape.context * model.architecture.vocabulary
    return possible and logits >= _MIN_FUSED_LOGITS and suits_triton(model.embedding)


def task_for(model: LanguageModel, settings: LanguageModelSettings) -> Task:
    """Return the prediction task of a model."""
    shape = model.architecture.shape
    return Task(
        model.architecture.vocabulary, shape.context, shape.causal, mask_share=settings.mask_share
    )
