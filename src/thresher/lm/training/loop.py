"""The training loop of language models."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

from thresher.errors import TrainingError
from thresher.lm.choices import Precision
from thresher.lm.losses.rare_tokens import cosine_regularisation
from thresher.lm.model import LanguageModel
from thresher.lm.reports.evaluation import evaluate
from thresher.lm.reports.frequency_groups import FrequencyGroup, frequency_groups, group_means
from thresher.lm.reports.gradient_roles import embedding_with_gradient
from thresher.lm.training.batches import (
    IGNORED,
    Batch,
    Task,
    WeightedPart,
    step_generator,
    step_seed,
)
from thresher.lm.training.matched_rows import MatchedRows
from thresher.lm.training.optimizer import learning_rate
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.training.state import TrainingData, TrainingProgress, TrainingState, task_for
from thresher.lm.training.token_matching import count_pairs, match_tokens

_MATCHING_TOKENS = 8_000_000  # of training windows, on which tokens are matched
_PROGRESS_EVERY = 10  # steps; reading the loss more often would make a GPU wait


def train(
    state: TrainingState,
    data: TrainingData,
    settings: LanguageModelSettings,
    *,
    on_progress: Callable[[TrainingProgress], None] = lambda progress: None,
    after_evaluation: Callable[[TrainingState], None] = lambda state: None,
) -> LanguageModel:
    """Run the remaining steps and return the model with the lowest validation loss.

    Torch's global random state does not change. If the loss becomes NaN or infinite, a
    TrainingError is raised; `state.best` then still has the best weights before that, if any.

    after_evaluation: called after each evaluation, for example to save the state
    """
    task = task_for(state.model, settings)
    for text in data.texts():
        task.check_length(text)
    ids = data.train.to(state.model.device)
    matched = _matched_rows(state, task, data, settings)
    groups = frequency_groups(data.counts)
    meter = _LossMeter(settings, task)
    with _separate_random_state(state.model.device):
        while state.step < settings.steps:
            meter.add(_step(state, task, ids, data.parts, settings, matched))
            state.step += 1
            due = state.step % settings.evaluate_every == 0 or state.step == settings.steps
            if due or state.step % _PROGRESS_EVERY == 0:
                on_progress(meter.progress(state.step))
            if due:
                _evaluate(state, task, data.validation, settings, groups, meter)
                after_evaluation(state)
    state.model.load_weights(state.best)
    return state.model.eval()


def _step(
    state: TrainingState,
    task: Task,
    ids: Tensor,
    parts: tuple[WeightedPart, ...],
    settings: LanguageModelSettings,
    matched: MatchedRows | None,
) -> Tensor:
    """Run one training step and return its loss."""
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
        embedding = embedding_with_gradient(model) if state.roles is not None else None
        hidden = model.transformer(model.embed(batch.input, embedding=embedding))
        if state.roles is None and not task.causal:
            batch, hidden = _with_targets(batch, hidden)
        losses = model.output.loss(hidden, batch.target, reduction="none", generator=noise)
        loss = losses.sum() / (batch.target != IGNORED).sum().clamp(min=1)
        if settings.cosine:
            loss = loss + settings.cosine * cosine_regularisation(model.embedding)
    state.optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    if state.roles is not None and embedding is not None:
        state.roles.add(model, batch, embedding, hidden, losses)
    torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
    if matched is None:
        state.optimizer.step()
    else:
        decay = settings.weight_decay if settings.decay_embeddings else 0.0
        with matched.following(shrink=learning_rate(step, settings) * decay):
            state.optimizer.step()
    return loss.detach()


def _matched_rows(
    state: TrainingState, task: Task, data: TrainingData, settings: LanguageModelSettings
) -> MatchedRows | None:
    """Match tokens on the windows of training; set their embeddings before the first step."""
    if not settings.match_rare_tokens:
        return None
    windows = matching_windows(task, data.train, data.parts, settings)
    matches = match_tokens(count_pairs(windows, task.vocabulary))
    if matches is None:
        return None
    matched = MatchedRows(state.model, matches)
    if state.step == 0:
        matched.initialise(seed=settings.seed)
    return matched


def matching_windows(
    task: Task, ids: Tensor, parts: tuple[WeightedPart, ...], settings: LanguageModelSettings
) -> Iterator[Tensor]:
    """Yield windows of the first training batches, on which tokens are matched."""
    steps = min(settings.steps, -(-_MATCHING_TOKENS // (settings.batch * task.context)))
    for step in range(steps):
        yield task.training_windows(
            ids, size=settings.batch, seed=settings.seed, step=step, parts=parts
        )


def _with_targets(batch: Batch, hidden: Tensor) -> tuple[Batch, Tensor]:
    """Keep the positions that have a target.

    In a masked text these are one in seven, and logits are the expensive part.
    """
    has_target = batch.target != IGNORED
    return Batch(batch.input[has_target], batch.target[has_target]), hidden[has_target]


def _evaluate(
    state: TrainingState,
    task: Task,
    validation: Tensor,
    settings: LanguageModelSettings,
    groups: list[FrequencyGroup],
    meter: "_LossMeter",
) -> None:
    """Evaluate on the validation text, remember the best weights and add a row to the log."""
    result = evaluate(
        state.model, task, validation, batch=settings.batch, limit=settings.validation_tokens
    )
    if not math.isfinite(result.loss):
        raise _diverged("validation", result.loss, state.step)
    if result.loss < state.best_loss:
        state.best_step, state.best_loss = state.step, result.loss
        state.best = state.model.weights()
    means = zip(groups, group_means(result.token_losses, groups), strict=True)
    state.log.append(
        {
            "step": state.step,
            "training_loss": meter.mean_loss(),
            "validation_loss": result.loss,
            "learning_rate": learning_rate(state.step - 1, settings),
            "tokens_per_second": meter.tokens_per_second,
        }
        | {group.name: mean for group, mean in means}
    )
    meter.restart()


def _diverged(part: str, loss: float, step: int) -> TrainingError:
    became = "NaN" if math.isnan(loss) else "infinite"
    return TrainingError(
        f"the {part} loss became {became} by step {step}; try a lower `learning_rate`"
    )


def _separate_random_state(device: torch.device) -> AbstractContextManager[object]:
    return torch.random.fork_rng(devices=[] if device.type == "cpu" else [device])


def _autocast(device: torch.device, precision: str) -> AbstractContextManager[object]:
    if precision == Precision.FLOAT32:
        return nullcontext()
    return torch.autocast(device.type, dtype=torch.bfloat16)


class _LossMeter:
    """The mean training loss and the speed since the last evaluation."""

    def __init__(self, settings: LanguageModelSettings, task: Task) -> None:
        self._steps = settings.steps
        self._tokens_per_step = settings.batch * task.context
        self.tokens_per_second = 0.0
        self.restart()

    def restart(self) -> None:
        """Forget all losses and start the clock again."""
        self._start = time.perf_counter()
        self._sum: Tensor | float = 0.0
        self._count = 0

    def add(self, loss: Tensor) -> None:
        """Add the loss of a step, without waiting for a GPU."""
        self._sum = self._sum + loss.double()
        self._count += 1

    def mean_loss(self) -> float:
        """Return the mean loss; on a GPU this waits for the steps to be done."""
        return float(self._sum) / self._count

    def progress(self, step: int) -> TrainingProgress:
        """Return the progress after a step; raise a TrainingError if the loss is not finite."""
        loss = self.mean_loss()
        if not math.isfinite(loss):
            raise _diverged("training", loss, step)
        seconds = time.perf_counter() - self._start
        self.tokens_per_second = self._count * self._tokens_per_step / seconds
        seconds_left = (self._steps - step) * self._tokens_per_step / self.tokens_per_second
        return TrainingProgress(step, self._steps, loss, self.tokens_per_second, seconds_left)
