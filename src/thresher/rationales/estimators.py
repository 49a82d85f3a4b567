"""Two ways to learn from sampled gates: through the sample, or from the loss it led to.

Both give a surrogate whose gradient estimates that of E[loss] in the parameters of the gates. The
loss of a batch is a function of sampled gates z (words,) that returns one number a text (texts,).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import torch
from torch import Generator, Tensor

from thresher.maths.hard_kumaraswamy import KumaraswamyGate

Losses = Callable[[Tensor], Tensor]
ESTIMATORS = ("pathwise", "reinforce")
BASELINES = ("none", "average", "others")


class Estimate(NamedTuple):
    """The mean loss of a batch as sampled, and the surrogate to go back through."""

    loss: Tensor
    surrogate: Tensor


class Estimator(Protocol):
    """Samples gates and says how the loss depends on their parameters."""

    def __call__(
        self, losses: Losses, gates: KumaraswamyGate, text_of_word: Tensor, *, generator: Generator
    ) -> Estimate:
        """An estimate from new samples; gradients reach whatever else `losses` depends on."""
        ...


@dataclass(frozen=True)
class Pathwise:
    """The sample is a differentiable function of noise: ∇ loss(z(noise)), averaged over samples."""

    samples: int = 1

    def __call__(
        self, losses: Losses, gates: KumaraswamyGate, text_of_word: Tensor, *, generator: Generator
    ) -> Estimate:
        """The loss itself is the surrogate."""
        del text_of_word  # gradients find their own way
        drawn = [losses(gates.rsample(generator=generator)) for _ in range(self.samples)]
        loss = torch.stack(drawn).mean()
        return Estimate(loss.detach(), loss)


@dataclass
class Reinforce:
    """The score function: ∇E[loss] = E[(loss − b) ∇ log P(z)], for any b that z has no part in.

    A thresholded gate is a Bernoulli variable with p = (1 − tᵃ)ᵇ, and log P(z) is exact.

    baseline: "none", b = 0; "average", a moving average of past losses; "others", the mean loss of
    the other samples of the same text, which takes two samples or more
    """

    baseline: str = "average"
    samples: int = 1
    smoothing: float = 0.9
    average: float | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.baseline not in BASELINES:
            raise ValueError(
                f"unknown baseline {self.baseline!r}; choose from {', '.join(BASELINES)}"
            )
        if self.samples < 1 + (self.baseline == "others"):
            raise ValueError(
                f"the baseline {self.baseline!r} needs more samples of a text; got {self.samples}"
            )

    def __call__(
        self, losses: Losses, gates: KumaraswamyGate, text_of_word: Tensor, *, generator: Generator
    ) -> Estimate:
        """(loss − b) log P(z) + loss, the first for the gates, the second for all else."""
        drawn = [gates.sample(generator=generator) for _ in range(self.samples)]
        loss = torch.stack([losses(z) for z in drawn])  # (samples, texts)
        score = torch.stack([_log_prob(gates, z, text_of_word, loss.shape[1]) for z in drawn])
        advantage = loss.detach() - self._expected(loss.detach())
        mean = loss.mean()
        return Estimate(mean.detach(), (advantage * score).mean() + mean)

    def _expected(self, loss: Tensor) -> Tensor:
        """b for every loss; the average then moves on."""
        if self.baseline == "others":
            return (loss.sum(0, keepdim=True) - loss) / (self.samples - 1)
        if self.baseline == "none":
            return torch.zeros_like(loss)
        seen, past = float(loss.mean()), self.average
        self.average = seen if past is None else self.smoothing * past + (1 - self.smoothing) * seen
        return torch.full_like(loss, past or 0.0)  # the first step knows no past


def _log_prob(gates: KumaraswamyGate, z: Tensor, text_of_word: Tensor, texts: int) -> Tensor:
    """log P of all gates of a text: (texts,)."""
    return z.new_zeros(texts).index_add(0, text_of_word, gates.log_prob(z))


def estimator(name: str, *, baseline: str = "average", samples: int = 1) -> Estimator:
    """The estimator of that name."""
    if name not in ESTIMATORS:
        raise ValueError(f"unknown estimator {name!r}; choose from {', '.join(ESTIMATORS)}")
    if name == "pathwise":
        return Pathwise(samples)
    return Reinforce(baseline, samples)
