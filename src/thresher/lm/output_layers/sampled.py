"""The base class of layers trained on the target and a few random words ("noise")."""

import math
from abc import abstractmethod
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.lm.output_layers.module import OutputModule, initial_weight
from thresher.lm.tokens.counts import unigram_distribution


class SampledLayer(OutputModule):
    """Scores s(w) = v_w·h + b_w, trained on the target and `samples` words drawn from the noise q.

    All positions of a batch share the samples, so a position costs 1 + samples products. A subclass
    implements the loss of each position in `_contrast`.

    power: q ∝ frequency^power; by default `default_power` of the class
    """

    default_power: ClassVar[float] = 1.0
    noise: Tensor
    log_noise: Tensor

    def __init__(
        self,
        width: int,
        vocabulary: int,
        *,
        frequencies: Tensor | None = None,
        samples: int = 256,
        power: float | None = None,
    ) -> None:
        super().__init__(width, vocabulary)
        if samples < 1:
            raise ValueError(f"`samples` must be at least 1, got {samples}")
        self.samples = samples
        power = self.default_power if power is None else power
        noise = unigram_distribution(frequencies, vocabulary, power=power)
        self.register_buffer("noise", noise.float())
        self.register_buffer("log_noise", noise.log().float())
        self.weight = initial_weight(vocabulary, width)
        self.bias = nn.Parameter(self._initial_bias())

    def scores(self, hidden: Tensor) -> Tensor:
        """Return s of every word, as trained: (…, width) to (…, vocabulary)."""
        return functional.linear(hidden, self.weight, self.bias)

    @abstractmethod
    def _contrast(self, true: Tensor, noise: Tensor, target: Tensor, drawn: Tensor) -> Tensor:
        """true: (rows,), s(target)   noise: (rows, samples), s(drawn)   returns: (rows,)."""

    def _initial_bias(self) -> Tensor:
        return torch.zeros(self.vocabulary)

    def _row_losses(
        self, hidden: Tensor, target: Tensor, generator: torch.Generator | None
    ) -> Tensor:
        drawn = torch.multinomial(self.noise, self.samples, replacement=True, generator=generator)
        true = (hidden * functional.embedding(target, self.weight)).sum(-1) + self.bias[target]
        noise = functional.linear(hidden, self.weight[drawn], self.bias[drawn])
        return self._contrast(true, noise, target, drawn)

    def _log_prob(self, hidden: Tensor, target: Tensor) -> Tensor:
        return self._all_log_probs(hidden).gather(1, target[:, None])[:, 0]

    def _all_log_probs(self, hidden: Tensor) -> Tensor:
        return self.scores(hidden).log_softmax(-1)

    def _log_expected(self, words: Tensor) -> Tensor:
        """Return log(samples·q(w)): how often each word is expected among the samples."""
        return self.log_noise[words] + math.log(self.samples)
