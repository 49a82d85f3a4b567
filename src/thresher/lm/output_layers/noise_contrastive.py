"""Noise-contrastive estimation: tell the target from noise, and become the distribution."""

import torch
from torch import Tensor
from torch.nn import functional

from thresher.lm.output_layers.sampled import SampledLayer


def noise_contrastive_loss(true: Tensor, noise: Tensor) -> Tensor:
    """−log σ(Δ(target)) − Σ log σ(−Δ(drawn)): is this word from the text, or one of the noise?

    With Δ(w) = s(w) − log(k·q(w)) the answer "from the text" has the probability
    σ(Δ) = p̂(w) / (p̂(w) + k·q(w)), where p̂ = exp s.

    true: (rows,), Δ of the targets   noise: (rows, k), Δ of the words drawn   returns: (rows,)
    """
    return functional.softplus(-true) + functional.softplus(noise).sum(-1)


class NoiseContrastive(SampledLayer):
    """p(w | h) = softmax(s)_w, trained to tell words from unigram noise (Gutmann & Hyvärinen 2010).

    The loss treats exp s(w) as a probability without dividing by anything (self-normalisation, Mnih
    & Teh 2012); in the end Σ exp s(w) ≈ 1 by itself, and `log_normaliser` says how nearly. The
    bias begins at log q, where the sum is 1 already.
    """

    def __init__(
        self,
        width: int,
        vocabulary: int,
        *,
        frequencies: Tensor | None = None,
        samples: int = 256,
        power: float = 1.0,
    ) -> None:
        super().__init__(width, vocabulary, frequencies=frequencies, samples=samples, power=power)
        with torch.no_grad():
            self.bias.copy_(self.log_noise)

    def log_normaliser(self, hidden: Tensor) -> Tensor:
        """log Σ exp s(w), zero for a model that has normalised itself: (…, width) to (…)."""
        return self.scores(hidden).logsumexp(-1)

    def _contrast(self, true: Tensor, noise: Tensor, target: Tensor, drawn: Tensor) -> Tensor:
        true = true - self._log_expected(target)
        return noise_contrastive_loss(true, noise - self._log_expected(drawn))
