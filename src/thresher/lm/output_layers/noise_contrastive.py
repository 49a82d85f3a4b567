"""Noise-contrastive estimation: learn to tell the target from random words."""

from torch import Tensor
from torch.nn import functional

from thresher.lm.output_layers.sampled import SampledLayer


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
