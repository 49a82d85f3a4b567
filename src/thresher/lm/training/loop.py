"""The training loop of language models."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import torch
from torch import Tensor

from thresher.errors import TrainingError
from thresher.lm.model import LanguageModel
from thresher.lm.reports.evaluation import adjusted_loss, evaluate
from thresher.lm.reports.frequency_groups import FrequencyGroup, frequency_groups, group_means
from thresher.lm.training.batch_loader import BatchLoader, StepWindows
from thresher.lm.training.batches import Task, WeightedPart
from thresher.lm.training.matched_rows import MatchedRows
from thresher.lm.training.optimizer import learning_rate
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.training.state import TrainingData, TrainingProgress, TrainingState, task_for
from thresher.lm.training.step import TrainingStep
from thresher.lm.training.token_matching import count_pairs, match_tokens
from thresher.training_processes import SINGLE_PROCESS, Processes

_MATCHING_TOKENS = 8_000_000  # about how many tokens of training windows are used to match tokens
_PROGRESS_EVERY = 10  # steps; reading the loss more often would make a GPU wait


def train(
    state: TrainingState,
    data: TrainingData,
    settings: LanguageModelSettings,
    *,
    on_progress: Callable[[TrainingProgress], None] = lambda progress: None,
    after_evaluation: Callable[[TrainingState], None] = lambda state: None,
    processes: Processes = SINGLE_PROCESS,
) -> LanguageModel:
    """Run the remaining steps and return the model with the lowest validation loss.

    Torch's global random state does not change. If the loss becomes NaN or infinite, a
    TrainingError is raised; `state.best` then still has the best weights before that, if any.

    after_evaluation: called after each evaluation, for example to save the state
    processes: those that train together; by default this one alone
    """
    task = task_for(state.model, settings)
    for text in data.texts():
        task.check_length(text)
    matched = _matched_rows(state, task, data, settings)
    step = TrainingStep(state, task, settings, matched=matched, processes=processes)
    windows = StepWindows(task, data.train.cpu(), settings, data.parts, processes)
    groups = frequency_groups(data.counts)
    meter = _LossMeter(settings, task)
    device = state.model.device
    with _separate_random_state(device), BatchLoader(windows, device) as loader:
        while state.step < settings.steps:
            meter.add(step.run(loader.load(state.step)))
            state.step += 1
            due = state.step % settings.evaluate_every == 0 or state.step == settings.steps
            if due or state.step % _PROGRESS_EVERY == 0:
                on_progress(meter.progress(state.step))
            if due:
                _evaluate(state, task, data.validation, settings, groups, meter)
                after_evaluation(state)
    state.model.load_weights(state.best)
    return state.model.eval()


def _matched_rows(
    state: TrainingState, task: Task, data: TrainingData, settings: LanguageModelSettings
) -> MatchedRows | None:
    """Match rarely seen tokens with frequent ones, if the settings say so.

    Before the first step, the embeddings of matched tokens are set to those of their matches.
    """
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
    steps = min(settings.steps, -(-_MATCHING_TOKENS // (settings.windows * task.context)))
    for step in range(steps):
        yield task.training_windows(
            ids, size=settings.windows, seed=settings.seed, step=step, parts=parts
        )


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
        raise _divergence_error("validation", result.loss, state.step)
    loss = result.loss
    if settings.favours_rare_tokens(state.step - 1) and state.adjustment is not None:
        # Adjusted logits predict the text; without the adjustment, rare tokens are too likely.
        loss = adjusted_loss(
            state.model,
            task,
            validation,
            state.adjustment,
            batch=settings.batch,
            limit=settings.validation_tokens,
        )
    if loss < state.best_loss:
        state.best_step, state.best_loss = state.step, loss
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


def _divergence_error(part: str, loss: float, step: int) -> TrainingError:
    became = "NaN" if math.isnan(loss) else "infinite"
    return TrainingError(
        f"the {part} loss became {became} by step {step}; try a lower `learning_rate`"
    )


def _separate_random_state(device: torch.device) -> AbstractContextManager[object]:
    return torch.random.fork_rng(devices=[] if device.type == "cpu" else [device])


class _LossMeter:
    """The mean training loss and the speed since the last evaluation."""

    def __init__(self, settings: LanguageModelSettings, task: Task) -> None:
        self._steps = settings.steps
        self._tokens_per_step = settings.windows * task.context
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
            raise _divergence_error("training", loss, step)
        seconds = time.perf_counter() - self._start
        self.tokens_per_second = self._count * self._tokens_per_step / seconds
        seconds_left = (self._steps - step) * self._tokens_per_step / self.tokens_per_second
        return TrainingProgress(step, self._steps, loss, self.tokens_per_second, seconds_left)
