"""Logit adjustment: account for token frequencies in training (Menon et al. 2021)."""

from torch import Tensor

from thresher.lm.tokens.counts import unigram_distribution


def logit_adjustment(frequencies: Tensor, *, tau: float = 1.0) -> Tensor:
    """Return τ·log p(w), to be added to the logits in training and left out afterwards.

    In training, the adjustment accounts for how frequent a token is, so that a rare token needs no
    lower logit than a frequent one. Without it, the model predicts as if all tokens were equally
    frequent (for τ = 1).

    frequencies: (vocabulary,), counts or relative frequencies   returns: (vocabulary,), float32
    """
    return (tau * unigram_distribution(frequencies, len(frequencies)).log()).float()
