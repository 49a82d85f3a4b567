"""The terms of the loss besides the task, each in expectation over the gates: no sampling noise.

    L = −log p(y | X′) + λ_s E[L0] + λ_c E[fused lasso] + λ_e |E[z] − π|

X′ is the text with the words of closed gates taken away. Gates come flat, (words,), the texts of a
batch one after the other; `text_of_word` (words,) says which text each belongs to.
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
    opinions: Tensor | None = None,
) -> dict[str, Tensor]:
    """Sparsity and continuity, and selection where something is expected beforehand."""
    prob_closed, mask = by_text(gates.prob_closed(), text_of_word)
    terms = {
        "sparsity": sparsity(prob_closed, mask),
        "continuity": continuity(prob_closed, mask),
    }
    if rate is not None or opinions is not None:
        terms["selection"] = selection(gates.mean, rate=rate, opinions=opinions)
    return terms


def sparsity(prob_closed: Tensor, mask: Tensor) -> Tensor:
    """E[L0] over the words of a text, averaged over texts: the expected share of open gates.

    prob_closed, mask: (texts, words)
    """
    return expected_sparsity(prob_closed, mask).mean()


def continuity(prob_closed: Tensor, mask: Tensor) -> Tensor:
    """E[Σ |zₜ₊₁ ≠ 0 − zₜ ≠ 0|] over the words of a text, averaged over texts.

    The expected number of places where a rationale begins or ends, per word.

    prob_closed, mask: (texts, words)
    """
    changes = expected_fused_lasso(prob_closed, mask)
    return (changes / mask.sum(-1).clamp(min=1)).mean()


def selection(mean: Tensor, *, rate: float | None = None, opinions: Tensor | None = None) -> Tensor:
    """How far the expected selection E[z] is from the π desired beforehand: |E[z] − π|.

    A word with a π of its own is asked to have it: the mean of |E[z] − π| over such words. The
    others are asked to have a rate together: |their mean E[z] − rate|. What nobody asks for adds 0.

    mean: (words,), E[z]   opinions: (words,), π or NaN for none
    """
    if opinions is None:
        opinions = torch.full_like(mean, torch.nan)
    speaks = ~opinions.isnan()
    gaps = (mean - torch.where(speaks, opinions, 0.0)).abs()
    of_each = (gaps * speaks).sum() / speaks.sum().clamp(min=1)
    silent = ~speaks
    if rate is None or not bool(silent.any()):
        return of_each
    return of_each + ((mean * silent).sum() / silent.sum() - rate).abs()


def by_text(values: Tensor, text_of_word: Tensor) -> tuple[Tensor, Tensor]:
    """Flat values as one row a text, and where there is a word: both (texts, words)."""
    lengths = torch.bincount(text_of_word).tolist()
    inside = torch.ones_like(values, dtype=torch.bool)
    return (
        pad_sequence(list(torch.split(values, lengths)), batch_first=True),
        pad_sequence(list(torch.split(inside, lengths)), batch_first=True),
    )
