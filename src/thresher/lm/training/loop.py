"""Training a language model: one state that changes step by step, and can be put down anywhere."""

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import torch
from torch import Tensor

from thresher.errors import InputError
from thresher.lm.losses.rare_tokens.cosine_regularisation import cosine_regularisation
from thresher.lm.model import Architecture, LanguageModel, seeded_model
from thresher.lm.output_layers.full import FullSoftmax
from thresher.lm.reports.evaluation import evaluate
from thresher.lm.reports.frequency_groups import Group, group_means, popularity_groups
from thresher.lm.reports.gradient_roles import RoleGradients, measurable, readable
from thresher.lm.training.batches import IGNORED, Batch, Part, Task, step_generator, step_seed
from thresher.lm.training.optimizer import adamw, learning_rate
from thresher.lm.training.settings import LanguageModelSettings

_REPORT_EVERY = 10  # steps; to look at the loss more often would make a GPU wait

Row = dict[str, float]  # a line of the log


class DivergedError(InputError):
    """The loss is no number any more; the state still holds the best model before that."""


@dataclass(frozen=True)
class TrainingData:
    """Two rows of tokens, (tokens,) each, and how often each token occurs in the first.

    parts: of the training row, if it is several texts to be read in other shares than their lengths
    """

    train: Tensor
    validation: Tensor
    counts: Tensor
    parts: tuple[Part, ...] = ()

    def texts(self) -> tuple[Tensor, ...]:
        """The training row as the texts it is made of."""
        tokens = [part.tokens for part in self.parts] or [len(self.train)]
        if sum(tokens) != len(self.train):
            raise InputError(f"parts of {sum(tokens)} tokens make no row of {len(self.train)}")
        return torch.split(self.train, tokens)


@dataclass(frozen=True)
class TrainingProgress:
    """How far a run is: what someone who looks on wants to know."""

    step: int
    steps: int
    loss: float
    tokens_per_second: float
    seconds_left: float


@dataclass
class TrainingState:
    """Everything that changes while training: with it, a run goes on as if never stopped.

    best: the weights with the least validation loss so far   log: a row for each evaluation
    """

    model: LanguageModel
    optimizer: torch.optim.AdamW
    roles: RoleGradients | None
    step: int = 0
    best_step: int = 0
    best_loss: float = math.inf
    best: dict[str, Tensor] = field(default_factory=dict)
    log: list[Row] = field(default_factory=list)

    @classmethod
    def new(
        cls,
        architecture: Architecture,
        settings: LanguageModelSettings,
        counts: Tensor,
        *,
        device: torch.device | str = "cpu",
    ) -> "TrainingState":
        """A state at the start, which follows from the seed alone."""
        model = seeded_model(architecture, seed=settings.seed, frequencies=counts).to(device)
        if isinstance(model.output, FullSoftmax):
            model.output.label_smoothing = settings.label_smoothing
        elif not settings.margin.is_infinite or settings.label_smoothing:
            raise InputError(
                f"the output layer {architecture.output!r} has neither margin nor label smoothing"
            )
        told_apart = settings.roles and not settings.cosine and measurable(model)
        roles = RoleGradients.zeros(architecture.vocabulary, device=device) if told_apart else None
        return cls(model, adamw(model, settings), roles)


def train(
    state: TrainingState,
    data: TrainingData,
    settings: LanguageModelSettings,
    *,
    on_progress: Callable[[TrainingProgress], None] = lambda progress: None,
    after_evaluation: Callable[[TrainingState], None] = lambda state: None,
) -> LanguageModel:
    """Run the steps that the state has not seen yet, and return the best model there was.

    `after_evaluation` is the place to save the state. Torch's own random numbers are left alone.
    """
    task = task_of(state.model, settings)
    for text in data.texts():
        task.check(text, "training")
    ids = data.train.to(state.model.device)
    groups = popularity_groups(data.counts)
    watch = _Watch(settings, task)
    with _own_random_numbers(state.model.device):
        while state.step < settings.steps:
            watch.add(_step(state, task, ids, data.parts, settings))
            state.step += 1
            due = state.step % settings.evaluate_every == 0 or state.step == settings.steps
            if due or state.step % _REPORT_EVERY == 0:
                on_progress(watch.look(state.step))
            if due:
                _evaluate(state, task, data.validation, settings, groups, watch)
                after_evaluation(state)
    state.model.load_weights(state.best)
    return state.model.eval()


def task_of(model: LanguageModel, settings: LanguageModelSettings) -> Task:
    """What this model is to predict."""
    shape = model.architecture.shape
    return Task(
        model.architecture.vocabulary, shape.context, shape.causal, mask_share=settings.mask_share
    )


def _step(
    state: TrainingState,
    task: Task,
    ids: Tensor,
    parts: tuple[Part, ...],
    settings: LanguageModelSettings,
) -> Tensor:
    model, step = state.model.train(), state.step
    torch.manual_seed(step_seed(settings.seed, step))  # for dropout
    noise = step_generator(settings.seed + 1, step, device=model.device)
    for group in state.optimizer.param_groups:
        group["lr"] = learning_rate(step, settings)
    model.set_margin(
        settings.margin.at(step=step, steps=settings.steps, vocabulary=task.vocabulary)
    )
    batch = task.training_batch(
        ids, size=settings.batch, seed=settings.seed, step=step, parts=parts
    )
    with _autocast(model.device, settings.precision):
        read = readable(model) if state.roles is not None else None
        hidden = model.transformer(model.embed(batch.input, read=read))
        if state.roles is None and not task.causal:
            batch, hidden = _predicted(batch, hidden)
        rows = model.output.loss(hidden, batch.target, reduction="none", generator=noise)
        loss = rows.sum() / (batch.target != IGNORED).sum().clamp(min=1)
        if settings.cosine:
            loss = loss + settings.cosine * cosine_regularisation(model.embedding)
    state.optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    if state.roles is not None and read is not None:
        state.roles.add(model, batch, read, hidden, rows)
    torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
    state.optimizer.step()
    return loss.detach()


def _predicted(batch: Batch, hidden: Tensor) -> tuple[Batch, Tensor]:
    """The positions with a target alone: of a masked text one in seven, and logits are dear."""
    counts = batch.target != IGNORED
    return Batch(batch.input[counts], batch.target[counts]), hidden[counts]


def _evaluate(
    state: TrainingState,
    task: Task,
    validation: Tensor,
    settings: LanguageModelSettings,
    groups: list[Group],
    watch: "_Watch",
) -> None:
    found = evaluate(
        state.model, task, validation, batch=settings.batch, limit=settings.validation_tokens
    )
    if not math.isfinite(found.loss):
        raise DivergedError(f"the validation loss is {found.loss} at step {state.step}")
    if found.loss < state.best_loss:
        state.best_step, state.best_loss = state.step, found.loss
        state.best = state.model.weights()
    means = zip(groups, group_means(found.token_losses, groups), strict=True)
    state.log.append(
        {
            "step": state.step,
            "training_loss": watch.training_loss(),
            "validation_loss": found.loss,
            "learning_rate": learning_rate(state.step - 1, settings),
            "tokens_per_second": watch.tokens_per_second,
        }
        | {group.name: mean for group, mean in means}
    )
    watch.restart()


def _own_random_numbers(device: torch.device) -> AbstractContextManager[object]:
    return torch.random.fork_rng(devices=[] if device.type == "cpu" else [device])


def _autocast(device: torch.device, precision: str) -> AbstractContextManager[object]:
    if precision == "float32":
        return nullcontext()
    return torch.autocast(device.type, dtype=torch.bfloat16)


class _Watch:
    """Losses and time since the last evaluation."""

    def __init__(self, settings: LanguageModelSettings, task: Task) -> None:
        self._steps = settings.steps
        self._tokens = settings.batch * task.context
        self.tokens_per_second = 0.0
        self.restart()

    def restart(self) -> None:
        self._start = time.perf_counter()
        self._sum: Tensor | float = 0.0
        self._count = 0

    def add(self, loss: Tensor) -> None:
        self._sum = self._sum + loss.double()
        self._count += 1

    def training_loss(self) -> float:
        return float(self._sum) / self._count

    def look(self, step: int) -> TrainingProgress:
        loss = self.training_loss()  # on a GPU, waits for the steps to be done
        if not math.isfinite(loss):
            raise DivergedError(
                f"the training loss is {loss} by step {step}; a lower learning rate may help"
            )
        seconds = time.perf_counter() - self._start
        self.tokens_per_second = self._count * self._tokens / seconds
        left = (self._steps - step) * self._tokens / self.tokens_per_second
        return TrainingProgress(step, self._steps, loss, self.tokens_per_second, left)
