"""Evaluate how well a model predicts each token, under its full, normalised distribution."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from thresher.errors import InputError
from thresher.lm.model import LanguageModel
from thresher.lm.training.batches import IGNORED, Batch, Task
from thresher.maths.information import bits_per_byte, perplexity

_MIN_TEMPERATURE, _MAX_TEMPERATURE = 0.005, 20.0
# How many logits are held at a time. Larger blocks on a CPU take three times as long: they are
# returned to the operating system after each operation, which clears them again for the next one.
_LOGITS_AT_ONCE_CPU = 1 << 20  # 4 MiB in float32
_LOGITS_AT_ONCE_GPU = 1 << 26


@dataclass(frozen=True)
class TokenSums:
    """Sums over the positions where each token was the target: all (vocabulary,), float64.

    count: positions   loss: −log p in nats   tempered: −log p at the evaluation's temperature
    squared_loss: (−log p)²; NaN in models saved before version 0.3
    hits: 1 where the target was the most likely token
    reciprocal_rank: 1 / rank of the target; tied tokens share their mean rank
    """

    count: Tensor
    loss: Tensor
    tempered: Tensor
    hits: Tensor
    reciprocal_rank: Tensor
    squared_loss: Tensor

    @classmethod
    def zeros(cls, vocabulary: int, *, device: torch.device | str = "cpu") -> "TokenSums":
        """Return sums over no position."""
        return cls(
            *(torch.zeros(vocabulary, dtype=torch.float64, device=device) for _ in fields(cls))
        )

    def add(self, log_p: Tensor, target: Tensor, *, temperature: float = 1.0) -> None:
        """Add some positions: log p (positions, vocabulary) and their targets (positions,)."""
        index = target[:, None]
        target_log_p = log_p.gather(1, index)
        tempered = (
            target_log_p
            if temperature == 1
            else (log_p / temperature).log_softmax(1).gather(1, index)
        )
        ties = (log_p == target_log_p).sum(1) - 1
        rank = 1 + (log_p > target_log_p).sum(1) + ties / 2
        for sums, values in (
            (self.count, torch.ones_like(rank)),
            (self.loss, -target_log_p[:, 0]),
            (self.tempered, -tempered[:, 0]),
            (self.hits, log_p.argmax(1) == target),
            (self.reciprocal_rank, 1 / rank),
            (self.squared_loss, target_log_p[:, 0].double().square()),
        ):
            sums.index_add_(0, target, values.double())

    def cpu(self) -> "TokenSums":
        """Return the sums on the CPU."""
        return TokenSums(*(getattr(self, each.name).cpu() for each in fields(self)))


@dataclass(frozen=True)
class Evaluation:
    """The result of evaluating a model on a text.

    tokens: sums for each token   temperature: the one of `tokens.tempered`
    byte_count: the number of bytes that were predicted, if the tokenizer is lossless
    """

    tokens: TokenSums
    temperature: float = 1.0
    byte_count: int | None = None

    @property
    def loss(self) -> float:
        """The mean of −log p over all positions, in nats."""
        return self._mean(self.tokens.loss)

    @property
    def accuracy(self) -> float:
        """The fraction of positions where the target was the most likely token."""
        return self._mean(self.tokens.hits)

    @property
    def mean_reciprocal_rank(self) -> float:
        """The mean of 1 / rank of the target over all positions."""
        return self._mean(self.tokens.reciprocal_rank)

    @property
    def token_losses(self) -> Tensor:
        """The mean loss of each token, NaN for one that was never a target: (vocabulary,)."""
        return self.tokens.loss / self.tokens.count

    def metrics(self) -> dict[str, float | None]:
        """Return all metrics by name."""
        return {
            "tokens": int(self.tokens.count.sum()),
            "loss": self.loss,
            "perplexity": self._perplexity(self.tokens.loss),
            "temperature": self.temperature,
            "perplexity_at_temperature": self._perplexity(self.tokens.tempered),
            "bits_per_byte": self._bits_per_byte(),
            "accuracy": self.accuracy,
            "mean_reciprocal_rank": self.mean_reciprocal_rank,
        }

    def _bits_per_byte(self) -> float | None:
        if self.byte_count is None:
            return None
        log_prob = -self.tokens.loss.sum()
        return bits_per_byte(log_prob[None], torch.tensor([self.byte_count])).item()

    def _perplexity(self, losses: Tensor) -> float:
        return perplexity(losses.sum() / self.tokens.count.sum(), base=math.e).item()

    def _mean(self, sums: Tensor) -> float:
        return (sums.sum() / self.tokens.count.sum()).item()


@torch.no_grad()
def evaluate(
    model: LanguageModel,
    task: Task,
    ids: Tensor,
    *,
    batch: int = 32,
    limit: int | None = None,
    temperature: float = 1.0,
    byte_count: int | None = None,
    on_progress: Callable[[int], None] = lambda tokens: None,
) -> Evaluation:
    """Evaluate a model on every token of a text, or on about `limit` tokens spread over it.

    ids: (tokens,)   batch: windows at a time
    byte_count: see `Evaluation`
    on_progress: called with the number of further tokens that are done
    """
    sums = TokenSums.zeros(task.vocabulary, device=model.device)
    batches = task.evaluation_batches(ids.to(model.device), size=batch, limit=limit)
    for log_p, target in _predictions(model, batches, on_progress):
        sums.add(log_p, target, temperature=temperature)
    if not sums.count.any():
        raise InputError(f"no token was masked in a text of {len(ids)} tokens; give more text")
    return Evaluation(sums.cpu(), temperature, byte_count)


@torch.no_grad()
def adjusted_loss(
    model: LanguageModel,
    task: Task,
    ids: Tensor,
    adjustment: Tensor,
    *,
    batch: int = 32,
    limit: int | None = None,
) -> float:
    """Return the mean loss with an adjustment of the logits, as in training.

    adjustment: (vocabulary,)   limit: see `evaluate`
    """
    total, count = 0.0, 0
    batches = task.evaluation_batches(ids.to(model.device), size=batch, limit=limit)
    for log_p, target in _predictions(model, batches):
        adjusted = (log_p + adjustment).log_softmax(1)
        total -= adjusted.gather(1, target[:, None]).double().sum().item()
        count += len(target)
    return total / count


@torch.no_grad()
def best_temperature(
    model: LanguageModel, task: Task, ids: Tensor, *, batch: int = 32, limit: int | None = None
) -> float:
    """Return the T that minimises the mean of −log softmax(log p / T)_target.

    In terms of β = 1/T and z = log p, this is log Σ e^{βz} − β·z_target, with the slope
    E[z] − z_target and the curvature Var[z] ≥ 0. So there is one minimum; Newton's method, with
    steps of at most a factor of 2, finds it.
    """
    beta = 1.0
    ids = ids.to(model.device)
    for _ in range(20):
        slope = curvature = 0.0
        for z, target in _predictions(model, task.evaluation_batches(ids, size=batch, limit=limit)):
            p = (beta * z).softmax(1)
            mean = (p * z).sum(1)
            slope += (mean - z.gather(1, target[:, None])[:, 0]).sum().item()
            curvature += (p * (z - mean[:, None]).square()).sum().item()
        newton = beta - slope / max(curvature, 1e-12)
        new = min(max(newton, beta / 2, 1 / _MAX_TEMPERATURE), 2 * beta, 1 / _MIN_TEMPERATURE)
        if abs(new - beta) < 1e-4 * beta:
            return 1 / new
        beta = new
    return 1 / beta


def _predictions(
    model: LanguageModel,
    batches: Iterable[Batch],
    on_progress: Callable[[int], None] = lambda tokens: None,
) -> Iterable[tuple[Tensor, Tensor]]:
    """Yield log p and targets of the predicted positions: (positions, vocabulary), (positions,)."""
    training = model.training
    at_once = _LOGITS_AT_ONCE_CPU if model.device.type == "cpu" else _LOGITS_AT_ONCE_GPU
    rows = max(1, at_once // model.architecture.vocabulary)
    model.eval()
    try:
        for input, target in batches:
            predicted = target != IGNORED
            hidden = torch.split(model(input)[predicted], rows)
            targets = torch.split(target[predicted], rows)
            for vectors, tokens in zip(hidden, targets, strict=True):
                yield model.output.all_log_probs(vectors).float(), tokens
            on_progress(target.numel())
    finally:
        model.train(training)
