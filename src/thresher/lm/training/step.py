"""One training step: gradients of all batches of the step, and an update of the weights."""

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

from thresher.errors import InputError
from thresher.lm.choices import Precision
from thresher.lm.losses.rare_tokens import cosine_regularisation
from thresher.lm.model import LanguageModel
from thresher.lm.output_layers.full import FullSoftmax
from thresher.lm.output_layers.gated import GatedSoftmax
from thresher.lm.reports.gradient_roles import embedding_with_gradient, target_gradient
from thresher.lm.training.batch_loader import StepBatches
from thresher.lm.training.batches import IGNORED, Task, step_generator, step_seed
from thresher.lm.training.matched_rows import MatchedRows
from thresher.lm.training.optimizer import learning_rate
from thresher.lm.training.settings import LanguageModelSettings
from thresher.lm.training.state import TrainingState
from thresher.training_processes import SINGLE_PROCESS, Processes

# Compiling takes about a minute, which is longer than it saves in training a smaller model.
_MIN_COMPILED_PARAMETERS = 10_000_000

Forward = Callable[[Tensor], Tensor]


class TrainingStep:
    """Runs training steps of a state, with a compiled model if the settings say so."""

    def __init__(
        self,
        state: TrainingState,
        task: Task,
        settings: LanguageModelSettings,
        *,
        matched: MatchedRows | None = None,
        processes: Processes = SINGLE_PROCESS,
    ) -> None:
        self._state, self._task, self._settings = state, task, settings
        self._matched = matched
        self._processes = processes
        self._forward = _forward(state.model, settings)
        several = settings.accumulate > 1 or self._processes.count > 1
        if several and isinstance(state.model.output, GatedSoftmax):
            raise InputError(
                "the output layer 'gated' counts the targets of each step; it supports neither "
                "`accumulate` nor several processes"
            )

    def run(self, step_batches: StepBatches) -> Tensor:
        """Run one step and return its loss."""
        state, settings, processes = self._state, self._settings, self._processes
        model = state.model.train()
        torch.manual_seed(step_seed(settings.seed, state.step))  # for dropout
        noise = step_generator(settings.seed + 1, state.step, device=model.device)
        self._configure_loss()
        state.optimizer.zero_grad()
        embedding = embedding_with_gradient(model) if state.roles is not None else None
        total, target = self._gradients(step_batches, embedding, noise)
        processes.add_up([total])
        processes.add_up_gradients(model.parameters())
        if state.roles is not None and embedding is not None and target is not None:
            assert embedding.grad is not None
            processes.add_up([embedding.grad, target])
            state.roles.add_gradients(model, embedding, target)
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
        self._update_weights()
        return total

    def _configure_loss(self) -> None:
        """Set the margin of this step, and the adjustment of logits in favour of rare tokens."""
        state, settings = self._state, self._settings
        model, step = state.model, state.step
        model.set_margin(
            settings.margin.at(step=step, steps=settings.steps, vocabulary=self._task.vocabulary)
        )
        if state.adjustment is not None and isinstance(model.output, FullSoftmax):
            favoured = settings.favours_rare_tokens(step)
            model.output.adjustment = state.adjustment if favoured else None

    def _update_weights(self) -> None:
        """Run the optimizer with the learning rate of this step."""
        settings, optimizer = self._settings, self._state.optimizer
        rate = learning_rate(self._state.step, settings)
        for group in optimizer.param_groups:
            group["lr"] = rate
        if self._matched is None:
            optimizer.step()
            return
        decay = settings.weight_decay if settings.decay_embeddings else 0.0
        with self._matched.following(shrink=rate * decay):
            optimizer.step()

    def _gradients(
        self, step_batches: StepBatches, embedding: Tensor | None, noise: torch.Generator
    ) -> tuple[Tensor, Tensor | None]:
        """Add the gradients of this process's batches; return its part of the loss.

        embedding: if given, the gradient that its tokens receive as targets is returned, too
        """
        model, settings = self._state.model, self._settings
        batches, predicted = step_batches
        total, target = torch.zeros((), device=model.device), None
        for batch in batches:
            with autocast(model.device, settings.precision):
                hidden = self._forward(model.embed(batch.input, embedding=embedding))
                tokens = batch.target
                if embedding is None and not self._task.causal:
                    # In a masked text one position in seven has a target, and logits are expensive.
                    hidden, tokens = hidden[tokens != IGNORED], tokens[tokens != IGNORED]
                summed, losses = model.output.loss_sum(hidden, tokens, generator=noise)
                loss = summed / predicted
                if settings.cosine:
                    share = settings.cosine / (len(batches) * self._processes.count)
                    loss = loss + share * cosine_regularisation(model.embedding)
            loss.backward()  # type: ignore[no-untyped-call]
            total = total + loss.detach()
            if embedding is not None:
                part = target_gradient(
                    batch, hidden, losses, vocabulary=len(embedding), predicted=predicted
                )
                target = part if target is None else target.add_(part)
        return total, target


def autocast(device: torch.device, precision: str) -> AbstractContextManager[object]:
    """Return a context in which the model computes in that precision."""
    if precision == Precision.FLOAT32:
        return nullcontext()
    return torch.autocast(device.type, dtype=torch.bfloat16)


def _forward(model: LanguageModel, settings: LanguageModelSettings) -> Forward:
    """Return a function from vectors to hidden states, compiled if the settings say so."""

    def forward(vectors: Tensor) -> Tensor:
        hidden: Tensor = model.transformer(vectors)
        return hidden

    compiled = settings.compile
    if compiled is None:
        parameters = sum(each.numel() for each in model.parameters())
        compiled = model.device.type == "cuda" and parameters >= _MIN_COMPILED_PARAMETERS
    return _quietly(torch.compile(forward)) if compiled else forward


def _quietly(compiled: Forward) -> Forward:
    """Return the function without torch.compile's warning that its input is not a leaf."""

    def forward(vectors: Tensor) -> Tensor:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The .grad attribute of a Tensor")
            return compiled(vectors)

    return forward
