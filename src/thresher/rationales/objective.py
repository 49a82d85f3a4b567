"""The terms of the loss besides the task: exact expectations over the gates, not samples."""

from torch import Tensor

from thresher.gates.objective import (
    expected_selection,
    mean_continuity,
    mean_sparsity,
    pad_by_sentence,
)
from thresher.maths.hard_kumaraswamy import KumaraswamyGate

TERMS = ("sparsity", "continuity", "selection")


def expected_terms(
    gates: KumaraswamyGate,
    text_of_word: Tensor,
    *,
    rate: float | None = None,
    prior: Tensor | None = None,
) -> dict[str, Tensor]:
    """Return sparsity and continuity, and selection if a rate or a prior is given.

    gates: (words,), the texts of a batch one after another   text_of_word: (words,)
    rate: the expected fraction of selected words
    prior: (words,), π of single words, NaN where it gives no probability
    """
    prob_closed, mask = pad_by_sentence(gates.prob_closed(), text_of_word)
    terms = {
        "sparsity": mean_sparsity(prob_closed, mask),
        "continuity": mean_continuity(prob_closed, mask),
    }
    if rate is not None or prior is not None:
        terms["selection"] = expected_selection(gates.mean, rate=rate, prior=prior)
    return terms
