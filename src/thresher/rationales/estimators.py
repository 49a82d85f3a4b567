"""Two estimators of the gradient through sampled gates: pathwise and score function (REINFORCE).

Both return a surrogate whose gradient estimates that of E[loss] in the parameters of the gates. The
loss of a batch is a function of sampled gates z (words,) that returns one number per text (texts,).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import torch
from torch import Generator, Tensor

from thresher.maths.hard_kumaraswamy import KumaraswamyGate
from thresher.rationales.choices import Baseline, GradientEstimator
from thresher.validation import require_choice, require_number

Losses = Callable[[Tensor], Tensor]


class Estimate(NamedTuple):
    """The mean sampled loss of a batch, and the surrogate to differentiate."""

    loss: Tensor
    surrogate: Tensor


class Estimator(Protocol):
    """Samples gates and returns an estimate of the loss and of its gradient."""

    def __call__(
        self, losses: Losses, gates: KumaraswamyGate, text_of_word: Tensor, *, generator: Generator
    ) -> Estimate:
        """Estimate from new samples; gradients also reach other parameters of `losses`."""
        ...


@dataclass(frozen=True)
class Pathwise:
    """Differentiates through the sample: ∇ loss(z(noise)), averaged over samples."""

    samples: int = 1

    def __call__(
        self, losses: Losses, gates: KumaraswamyGate, text_of_word: Tensor, *, generator: Generator
    ) -> Estimate:
        """Return the loss as its own surrogate."""
        del text_of_word  # part of the protocol
        sampled = [losses(gates.rsample(generator=generator)) for _ in range(self.samples)]
        loss = torch.stack(sampled).mean()
        return Estimate(loss.detach(), loss)


@dataclass
class Reinforce:
    """The score function: ∇E[loss] = E[(loss − b) ∇ log P(z)], for any b independent of z.

    A thresholded gate is a Bernoulli variable with p = (1 − tᵃ)ᵇ, and log P(z) is exact.

    baseline: "none", b = 0; "average", a moving average of past losses; "others", the mean loss of
    the other samples of the same text, which needs at least two samples
    """

    baseline: str = "average"
    samples: int = 1
    smoothing: float = 0.9
    average: float | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        require_choice("baseline", self.baseline, Baseline)
        require_number("samples", self.samples, at_least=1 + (self.baseline == Baseline.OTHERS))

    def __call__(
        self, losses: Losses, gates: KumaraswamyGate, text_of_word: Tensor, *, generator: Generator
    ) -> Estimate:
        """Return (loss − b) log P(z), for the gates, plus the loss, for all other parameters."""
        samples = [gates.sample(generator=generator) for _ in range(self.samples)]
        loss = torch.stack([losses(z) for z in samples])  # (samples, texts)
        score = torch.stack([_log_prob(gates, z, text_of_word, loss.shape[1]) for z in samples])
        advantage = loss.detach() - self._baseline(loss.detach())
        mean = loss.mean()
        return Estimate(mean.detach(), (advantage * score).mean() + mean)

    def _baseline(self, loss: Tensor) -> Tensor:
        """Return b for every loss, and update the moving average."""
        if self.baseline == Baseline.OTHERS:
            return (loss.sum(0, keepdim=True) - loss) / (self.samples - 1)
        if self.baseline == Baseline.NONE:
            return torch.zeros_like(loss)
        current, past = float(loss.mean()), self.average
        self.average = (
            current if past is None else self.smoothing * past + (1 - self.smoothing) * current
        )
        return torch.full_like(loss, past or 0.0)  # the first step has no past


def _log_prob(gates: KumaraswamyGate, z: Tensor, text_of_word: Tensor, texts: int) -> Tensor:
    """Return log P of all gates of each text: (texts,)."""
    return z.new_zeros(texts).index_add(0, text_of_word, gates.log_prob(z))


def make_estimator(name: str, *, baseline: str = "average", samples: int = 1) -> Estimator:
    """Return the estimator with this name."""
    require_choice("estimator", name, GradientEstimator)
    if name == GradientEstimator.PATHWISE:
        return Pathwise(samples)
    return Reinforce(baseline, samples)
