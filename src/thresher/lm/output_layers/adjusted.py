"""The full softmax with logit adjustment."""

import math

from torch import Tensor, nn

from thresher.lm.losses.margin import MarginRule
from thresher.lm.losses.rare_tokens.logit_adjustment import logit_adjustment
from thresher.lm.output_layers.full import FullSoftmax
from thresher.lm.tokens.counts import checked_frequencies


class AdjustedSoftmax(FullSoftmax):
    """p(w | h) = softmax(z)_w, trained as softmax(z + τ·log unigram) (Menon et al. 2021).

    What is learned is thus freed of the words' frequencies. Under p rare words are likelier than in
    the text, so its perplexity there is higher and its accuracy on rare words better.
    """

    uses_frequencies = True
    adjustment: Tensor

    def __init__(
        self,
        width: int,
        vocabulary: int,
        *,
        frequencies: Tensor | None = None,
        tau: float = 1.0,
        weight: nn.Parameter | None = None,
        bias: bool = True,
        margin: float | MarginRule = math.inf,
    ) -> None:
        super().__init__(width, vocabulary, weight=weight, bias=bias, margin=margin)
        frequencies = checked_frequencies(frequencies, vocabulary)
        self.register_buffer("adjustment", logit_adjustment(frequencies, tau=tau))

    def _training_logits(self, hidden: Tensor, target: Tensor) -> Tensor:
        return self.logits(hidden) + self.adjustment
