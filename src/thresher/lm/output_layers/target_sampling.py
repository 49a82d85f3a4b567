"""Target sampling: a softmax over the target and a few random words."""

import math

import torch
from torch import Tensor

from thresher.lm.output_layers.sampled import SampledLayer


class TargetSampling(SampledLayer):
    """log Ẑ − s(target), the sum over the vocabulary estimated from samples (Jean et al. 2015).

    Ẑ = exp s(target) + Σ exp s(w) / (k·q(w)) over the draws w ≠ target is Z on average, whatever
    the noise, and ever nearer to it with more samples. p(w | h) = softmax(s)_w.
    """

    def _contrast(self, true: Tensor, noise: Tensor, target: Tensor, drawn: Tensor) -> Tensor:
        others = noise - self._log_expected(drawn)
        others = others.masked_fill(drawn == target[:, None], -math.inf)
        return torch.cat([true[:, None], others], 1).logsumexp(1) - true
