"""The terms of the objective of entities that depend on the gates alone.

    L = λ_con (L_rationale − λ_cmp L_complement) + λ_s sparsity + λ_tv continuity + λ_e agreement
        (and λ_kl divergence, with several selectors)

The contrast is in `contrast`, the divergence in `variants`, and the objective of rationales in
`thresher.rationales.objective`. Gates and their values are flat, (words,), the sentences of a batch
one after another; `sentence_of_word` (words,) gives the number of each word's sentence.
"""

import torch
from torch import Tensor

from thresher.maths.hard_kumaraswamy import KumaraswamyGate


def sparsity(z: Tensor) -> Tensor:
    """Return the fraction of open words, Σ z / words; its expectation if z is P(open)."""
    return z.mean()


def continuity(z: Tensor, sentence_of_word: Tensor) -> Tensor:
    """Return the total variation within sentences: Σ |zᵢ₊₁ − zᵢ| / words."""
    same_sentence = sentence_of_word[1:] == sentence_of_word[:-1]
    return ((z[1:] - z[:-1]).abs() * same_sentence).sum() / len(z)


def agreement(gates: KumaraswamyGate, prior: Tensor) -> Tensor:
    """Return the binary cross-entropy of P(open) to the prior π, over the words that have a π.

    prior: (words,), NaN where it gives no probability; the result is 0 if it gives none at all
    """
    known = ~prior.isnan()
    target = torch.where(known, prior, 0.0)
    loss = -(target * gates.log_prob_open() + (1 - target) * gates.log_prob_closed())
    return (loss * known).sum() / known.sum().clamp(min=1)


def rate_divergence(prob_open: Tensor, rate: float) -> Tensor:
    """Return KL(Bernoulli(rate) ‖ Bernoulli(mean P(open))).

    Sparsity only closes gates; this term also opens them if the rate is too low.
    """
    mean = prob_open.mean().clamp(1e-6, 1 - 1e-6)
    terms = (rate * (rate / mean).log(), (1 - rate) * ((1 - rate) / (1 - mean)).log())
    return terms[0] + terms[1]
