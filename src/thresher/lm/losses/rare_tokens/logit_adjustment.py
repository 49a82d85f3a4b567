"""Logit adjustment: let frequency explain what frequency can (Menon et al. 2021)."""

from torch import Tensor

from thresher.lm.tokens.counts import unigram


def logit_adjustment(frequencies: Tensor, *, tau: float = 1.0) -> Tensor:
    """τ·log p(w), to be added to the logits in training and left out afterwards.

    With it a rare word reaches its few targets by a logit no larger than a frequent one's; without
    it, afterwards, all words stand as if they were equally frequent (τ = 1).

    frequencies: (vocabulary,), counts or shares   returns: (vocabulary,), float32
    """
    return (tau * unigram(frequencies, len(frequencies)).log()).float()
