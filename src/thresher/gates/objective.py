"""The terms of the objectives that depend on the gates alone.

Entities:    L = λ_con (L_rationale − λ_cmp L_complement) + λ_s sparsity + λ_tv continuity
                 + λ_e agreement   (and λ_kl divergence, with several selectors)
Rationales:  L = −log p(y | selected words) + λ_s E[L0] + λ_c E[fused lasso] + λ_e |E[z] − π|

The contrast is in `contrast`, the divergence in `variants`. Gates and their values are flat,
(words,), the sentences of a batch one after another; `sentence_of_word` (words,) gives the number
of each word's sentence. For rationales, a whole text is one sentence.
"""

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from thresher.maths.gate_forms import expected_fused_lasso, expected_sparsity
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


def mean_sparsity(prob_closed: Tensor, mask: Tensor) -> Tensor:
    """Return E[L0] per word, averaged over sentences: the expected fraction of open gates.

    prob_closed, mask: (sentences, words), as `pad_by_sentence` gives them
    """
    return expected_sparsity(prob_closed, mask).mean()


def mean_continuity(prob_closed: Tensor, mask: Tensor) -> Tensor:
    """Return E[Σ |(zₜ₊₁ ≠ 0) − (zₜ ≠ 0)|] per word, averaged over sentences.

    This is the expected number of positions per word where a run of open gates begins or ends.

    prob_closed, mask: (sentences, words), as `pad_by_sentence` gives them
    """
    changes = expected_fused_lasso(prob_closed, mask)
    return (changes / mask.sum(-1).clamp(min=1)).mean()


def expected_selection(
    mean: Tensor, *, rate: float | None = None, prior: Tensor | None = None
) -> Tensor:
    """Return the distance |E[z] − π| between the gates and their expected values.

    For words with a prior probability it is the mean of |E[z] − π|; for the others together it is
    |mean E[z] − rate|. Without a prior or a rate the corresponding part is 0.

    mean: (words,), E[z]   prior: (words,), π, NaN where it gives no probability
    """
    if prior is None:
        prior = torch.full_like(mean, torch.nan)
    known = ~prior.isnan()
    distances = (mean - torch.where(known, prior, 0.0)).abs()
    of_known = (distances * known).sum() / known.sum().clamp(min=1)
    others = ~known
    if rate is None or not bool(others.any()):
        return of_known
    return of_known + ((mean * others).sum() / others.sum() - rate).abs()


def pad_by_sentence(values: Tensor, sentence_of_word: Tensor) -> tuple[Tensor, Tensor]:
    """Return flat values as one padded row per sentence, and a mask: (sentences, words) each."""
    lengths = torch.bincount(sentence_of_word).tolist()
    inside = torch.ones_like(values, dtype=torch.bool)
    return (
        pad_sequence(list(torch.split(values, lengths)), batch_first=True),
        pad_sequence(list(torch.split(inside, lengths)), batch_first=True),
    )
