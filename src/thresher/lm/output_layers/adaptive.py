"""The adaptive softmax: torch's own, with ignored targets and all reductions."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from thresher.lm.output_layers.module import RankedModule


class AdaptiveSoftmax(RankedModule):
    """p(w | h) over a short list of frequent words, followed by clusters of increasingly rare ones.

    `torch.nn.AdaptiveLogSoftmaxWithLoss` (Grave et al. 2017) on words in order of frequency. The
    vectors of cluster i are `div_value`^i times narrower than h; a position costs the short list
    and, for a rare word, its own cluster.

    cutoffs: ranks at which the clusters begin; by default `default_cutoffs`
    """

    def __init__(
        self,
        width: int,
        vocabulary: int,
        *,
        frequencies: Tensor | None = None,
        cutoffs: Sequence[int] | None = None,
        div_value: float = 4.0,
    ) -> None:
        super().__init__(width, vocabulary, frequencies=frequencies)
        if cutoffs is None:
            cutoffs = default_cutoffs(width, vocabulary, div_value=div_value)
        clusters = max(1, len(cutoffs))
        if vocabulary > 1 and width < div_value**clusters:
            rule = f"{clusters} clusters need a `width` of at least {div_value:g}^{clusters}"
            raise ValueError(f"{rule}, got {width}")
        # torch needs at least one cluster, and so at least two words.
        self.softmax = (
            nn.AdaptiveLogSoftmaxWithLoss(
                width, vocabulary, list(cutoffs), div_value=div_value, head_bias=True
            )
            if vocabulary > 1
            else None
        )

    def _log_prob(self, hidden: Tensor, target: Tensor) -> Tensor:
        if self.softmax is None:
            return 0 * hidden.sum(-1)
        with torch.autocast(hidden.device.type, enabled=False):  # torch's own layer fails in it
            hidden = hidden.to(self.softmax.head.weight.dtype)
            log_prob: Tensor = self.softmax(hidden, self.ranks[target]).output
        return log_prob

    def _all_log_probs(self, hidden: Tensor) -> Tensor:
        if self.softmax is None:
            return 0 * hidden[:, :1]
        return self.softmax.log_prob(hidden)[:, self.ranks]


def default_cutoffs(width: int, vocabulary: int, *, div_value: float = 4.0) -> list[int]:
    """Begin clusters at 5 % and 25 % of the words, unless their vectors would have no width."""
    cuts = sorted({max(1, round(vocabulary * fraction)) for fraction in (0.05, 0.25)})
    return [cut for i, cut in enumerate(cuts, 1) if cut < vocabulary and width >= div_value**i]
