"""Target sampling: a softmax over the target and a few random words."""

import math

import torch
from torch import Tensor

from thresher.lm.output_layers.sampled import SampledLayer


class TargetSampling(SampledLayer):
    """log Ẑ − s(target), with the sum Z over the vocabulary estimated by Ẑ (Jean et al. 2015).

    Ẑ = exp s(target) + Σ exp s(w) / (k·q(w)) over the samples w ≠ target is an unbiased estimate of
    Z for any noise q, and gets closer with more samples. p(w | h) = softmax(s)_w.
    """

    def _contrast(self, true: Tensor, noise: Tensor, target: Tensor, drawn: Tensor) -> Tensor:
        others = noise - self._log_expected(drawn)
        others = others.masked_fill(drawn == target[:, None], -math.inf)
        return torch.cat([true[:, None], others], 1).logsumexp(1) - true
