"""The full softmax with logit adjustment."""

from typing import Unpack

from torch import Tensor

from thresher.lm.losses.rare_tokens.logit_adjustment import logit_adjustment
from thresher.lm.output_layers.full import FullSoftmax, SoftmaxOptions
from thresher.lm.tokens.counts import checked_frequencies


class AdjustedSoftmax(FullSoftmax):
    """p(w | h) = softmax(z)_w, trained as softmax(z + τ·log unigram) (Menon et al. 2021).

    So the logits do not have to learn how frequent each token is. Under p rare tokens are likelier
    than in the text: its perplexity on the text is higher, its accuracy on rare tokens better.
    """

    uses_frequencies = True
    adjustment: Tensor

    def __init__(
        self,
        width: int,
        vocabulary: int,
        *,
        tau: float = 1.0,
        frequencies: Tensor | None = None,
        **options: Unpack[SoftmaxOptions],
    ) -> None:
        super().__init__(width, vocabulary, **options)
        frequencies = checked_frequencies(frequencies, vocabulary)
        self.register_buffer("adjustment", logit_adjustment(frequencies, tau=tau))

    def _training_logits(self, hidden: Tensor, target: Tensor) -> Tensor:
        return self.logits(hidden) + self.adjustment
