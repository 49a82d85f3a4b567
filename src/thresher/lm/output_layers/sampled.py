"""Layers trained on the target and a few random words ("noise"), and their base class."""

import math
from abc import abstractmethod
from typing import ClassVar

import torch
from torch import Generator, Tensor, nn
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

    def _row_losses(self, hidden: Tensor, target: Tensor, generator: Generator | None) -> Tensor:
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


class TargetSampling(SampledLayer):
    """log Ẑ − s(target), with the sum Z over the vocabulary estimated by Ẑ (Jean et al. 2015).

    Ẑ = exp s(target) + Σ exp s(w) / (k·q(w)) over the samples w ≠ target is an unbiased estimate of
    Z for any noise q, and gets closer with more samples. p(w | h) = softmax(s)_w.
    """

    def _contrast(self, true: Tensor, noise: Tensor, target: Tensor, drawn: Tensor) -> Tensor:
        others = noise - self._log_expected(drawn)
        others = others.masked_fill(drawn == target[:, None], -math.inf)
        return torch.cat([true[:, None], others], 1).logsumexp(1) - true


def noise_contrastive_loss(true: Tensor, noise: Tensor) -> Tensor:
    """Return −log σ(Δ(target)) − Σ log σ(−Δ(drawn)): classify words as from the text or noise.

    With Δ(w) = s(w) − log(k·q(w)), the probability of "from the text" is
    σ(Δ) = p̂(w) / (p̂(w) + k·q(w)), where p̂ = exp s.

    true: (rows,), Δ of the targets   noise: (rows, k), Δ of the words drawn   returns: (rows,)
    """
    return functional.softplus(-true) + functional.softplus(noise).sum(-1)


class NoiseContrastive(SampledLayer):
    """p(w | h) = softmax(s)_w, trained to tell words from unigram noise (Gutmann & Hyvärinen 2010).

    The loss treats exp s(w) as a probability without normalising it (self-normalisation, Mnih & Teh
    2012). After training Σ exp s(w) ≈ 1, and `log_normaliser` measures how closely. The bias starts
    at log q, where the sum is close to 1 already.
    """

    def log_normaliser(self, hidden: Tensor) -> Tensor:
        """Return log Σ exp s(w), 0 for a perfectly self-normalised model: (…, width) to (…)."""
        return self.scores(hidden).logsumexp(-1)

    def _initial_bias(self) -> Tensor:
        return self.log_noise.clone()

    def _contrast(self, true: Tensor, noise: Tensor, target: Tensor, drawn: Tensor) -> Tensor:
        true = true - self._log_expected(target)
        return noise_contrastive_loss(true, noise - self._log_expected(drawn))


class NegativeSampling(SampledLayer):
    """−log σ(s(target)) − Σ log σ(−s(drawn)), the loss of word2vec (Mikolov et al. 2013).

    It learns s(w) = log(p(w | h) / (k·q(w))) instead of log p (Levy & Goldberg 2014), so its
    distribution is p(w | h) = softmax(s + log q)_w; softmax(s) alone would ignore how frequent the
    words are.
    """

    default_power = 0.75

    def _contrast(self, true: Tensor, noise: Tensor, target: Tensor, drawn: Tensor) -> Tensor:
        return noise_contrastive_loss(true, noise)

    def _all_log_probs(self, hidden: Tensor) -> Tensor:
        return (self.scores(hidden) + self.log_noise).log_softmax(-1)
