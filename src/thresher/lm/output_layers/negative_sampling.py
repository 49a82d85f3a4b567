"""Negative sampling, the loss of word2vec."""

from torch import Tensor

from thresher.lm.output_layers.noise_contrastive import noise_contrastive_loss
from thresher.lm.output_layers.sampled import SampledLayer


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
