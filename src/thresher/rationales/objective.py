"""The terms of the loss besides the task: exact expectations over the gates, not samples.

L = −log p(y | selected words) + λ_s E[L0] + λ_c E[fused lasso] + λ_e |E[z] − π|
"""

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from thresher.maths.gate_forms import expected_fused_lasso, expected_sparsity
from thresher.maths.hard_kumaraswamy import KumaraswamyGate

TERMS = ("sparsity", "continuity", "selection")


def expected_terms(
    gates: KumaraswamyGate,
    text_of_word: Tensor,
    *,
    rate: float | None = None,
    prior: Tensor | None = None,
) -> dict[str, Tensor]:
    """Return the terms by name; selection only if a rate or a prior is given.

    sparsity: E[L0] per word, the expected fraction of open gates; averaged over texts
    continuity: E[Σ |(zₜ₊₁ ≠ 0) − (zₜ ≠ 0)|] per word, the expected number of positions where a run
        of open gates begins or ends; averaged over texts
    selection: `expected_selection`

    gates: (words,), the texts of a batch one after another   text_of_word: (words,)
    rate: the expected fraction of selected words
    prior: (words,), π of single words, NaN where it gives no probability
    """
    prob_closed, mask = pad_by_text(gates.prob_closed(), text_of_word)
    changes = expected_fused_lasso(prob_closed, mask)
    terms = {
        "sparsity": expected_sparsity(prob_closed, mask).mean(),
        "continuity": (changes / mask.sum(-1).clamp(min=1)).mean(),
    }
    if rate is not None or prior is not None:
        terms["selection"] = expected_selection(gates.mean, rate=rate, prior=prior)
    return terms


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


def pad_by_text(values: Tensor, text_of_word: Tensor) -> tuple[Tensor, Tensor]:
    """Return flat values as one padded row per text, and a mask: (texts, words) each."""
    lengths = torch.bincount(text_of_word).tolist()
    inside = torch.ones_like(values, dtype=torch.bool)
    return (
        pad_sequence(list(torch.split(values, lengths)), batch_first=True),
        pad_sequence(list(torch.split(inside, lengths)), batch_first=True),
    )
