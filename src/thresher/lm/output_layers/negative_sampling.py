"""Negative sampling: noise-contrastive estimation with the noise left out of the formula."""

from torch import Tensor

from thresher.lm.output_layers.noise_contrastive import noise_contrastive_loss
from thresher.lm.output_layers.sampled import SampledLayer


class NegativeSampling(SampledLayer):
    """−log σ(s(target)) − Σ log σ(−s(drawn)), the loss of word2vec (Mikolov et al. 2013).

    What it learns is not log p but s(w) = log(p(w | h) / (k·q(w))) (Levy & Goldberg 2014), so its
    distribution is p(w | h) = softmax(s + log q)_w; softmax(s) alone would take every word for as
    rare as the rarest. q ∝ frequency^power.
    """

    def __init__(
        self,
        width: int,
        vocabulary: int,
        *,
        frequencies: Tensor | None = None,
        samples: int = 256,
        power: float = 0.75,
    ) -> None:
        super().__init__(width, vocabulary, frequencies=frequencies, samples=samples, power=power)

    def _contrast(self, true: Tensor, noise: Tensor, target: Tensor, drawn: Tensor) -> Tensor:
        return noise_contrastive_loss(true, noise)

    def _all_log_probs(self, hidden: Tensor) -> Tensor:
        return (self.scores(hidden) + self.log_noise).log_softmax(-1)
