"""How well a model predicts each token, always under its full, normalised distribution."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from thresher.errors import InputError
from thresher.lm.model import LanguageModel
from thresher.lm.training.batches import IGNORED, Batch, Task
from thresher.maths.information import bits_per_byte, perplexity

_LEAST_TEMPERATURE, _MOST_TEMPERATURE = 0.005, 20.0


@dataclass(frozen=True)
class TokenSums:
    """Sums over the positions where each token was the target: all (vocabulary,), float64.

    count: positions   loss: −log p, nats   tempered: the same at the temperature asked for
    hits: the target was the likeliest   reciprocal_rank: 1 / its rank, ties at their mean rank
    """

    count: Tensor
    loss: Tensor
    tempered: Tensor
    hits: Tensor
    reciprocal_rank: Tensor

    @classmethod
    def zeros(cls, vocabulary: int, *, device: torch.device | str = "cpu") -> "TokenSums":
        """No position yet."""
        return cls(
            *(torch.zeros(vocabulary, dtype=torch.float64, device=device) for _ in fields(cls))
        )

    def add(self, log_p: Tensor, target: Tensor, *, temperature: float = 1.0) -> None:
        """Take in some positions: (positions, vocabulary) and (positions,)."""
        index = target[:, None]
        true = log_p.gather(1, index)
        tempered = (
            true if temperature == 1 else (log_p / temperature).log_softmax(1).gather(1, index)
        )
        rank = 1 + (log_p > true).sum(1) + ((log_p == true).sum(1) - 1) / 2
        for sums, values in (
            (self.count, torch.ones_like(rank)),
            (self.loss, -true[:, 0]),
            (self.tempered, -tempered[:, 0]),
            (self.hits, log_p.argmax(1) == target),
            (self.reciprocal_rank, 1 / rank),
        ):
            sums.index_add_(0, target, values.double())

    def cpu(self) -> "TokenSums":
        """The same sums on the CPU."""
        return TokenSums(*(getattr(self, each.name).cpu() for each in fields(self)))


@dataclass(frozen=True)
class Evaluation:
    """What a model made of a text.

    temperature: the one that `tokens.tempered` was computed at
    byte_count: bytes of the text predicted, where tokens keep all of it
    """

    tokens: TokenSums
    temperature: float = 1.0
    byte_count: int | None = None

    @property
    def loss(self) -> float:
        """The mean of −log p over positions, nats."""
        return self._mean(self.tokens.loss)

    @property
    def accuracy(self) -> float:
        """The share of positions where the target was the likeliest."""
        return self._mean(self.tokens.hits)

    @property
    def mean_reciprocal_rank(self) -> float:
        """The mean of 1 / rank of the target."""
        return self._mean(self.tokens.reciprocal_rank)

    @property
    def token_losses(self) -> Tensor:
        """The mean loss of each token, NaN for one that never was a target: (vocabulary,)."""
        return self.tokens.loss / self.tokens.count

    def figures(self) -> dict[str, float | None]:
        """For a table or a program."""
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
) -> Evaluation:
    """The model on a text: every token once, or about `limit` of them spread over it.

    ids: (tokens,)
    """
    sums = TokenSums.zeros(task.vocabulary, device=model.device)
    batches = task.evaluation_batches(ids.to(model.device), size=batch, limit=limit)
    for log_p, target in _predictions(model, batches):
        sums.add(log_p, target, temperature=temperature)
    if not sums.count.any():
        raise InputError(f"of a text of {len(ids)} tokens none was hidden; give more text")
    return Evaluation(sums.cpu(), temperature, byte_count)


@torch.no_grad()
def best_temperature(
    model: LanguageModel, task: Task, ids: Tensor, *, batch: int = 32, limit: int | None = None
) -> float:
    """The T that makes the mean of −log softmax(log p / T)_target least.

    In β = 1/T it is log Σ e^{βz} − β·z_t, whose slope is E[z] − z_t and whose curvature Var[z] ≥ 0,
    so Newton's steps, none longer than a doubling or a halving, find the one minimum.
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
        new = min(max(newton, beta / 2, 1 / _MOST_TEMPERATURE), 2 * beta, 1 / _LEAST_TEMPERATURE)
        if abs(new - beta) < 1e-4 * beta:
            return 1 / new
        beta = new
    return 1 / beta


def _predictions(model: LanguageModel, batches: Iterable[Batch]) -> Iterable[tuple[Tensor, Tensor]]:
    """log p and target of the positions that count: (positions, vocabulary) and (positions,)."""
    training = model.training
    model.eval()
    try:
        for input, target in batches:
            counts = target != IGNORED
            hidden = model(input)[counts]
            yield model.output.all_log_probs(hidden).float(), target[counts]
    finally:
        model.train(training)
