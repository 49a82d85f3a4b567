"""Create gates by the name of their form; rates they can reach; penalties for open gates."""

from collections.abc import Callable
from typing import Any, Final

import torch
from torch import Tensor

from thresher.maths.hard_kumaraswamy import (
    ContinuousGate,
    KumaraswamyGate,
    StretchedGate,
    ThresholdedGate,
)

GATE_FORMS: Final[dict[str, Callable[..., KumaraswamyGate]]] = {
    "thresholded": ThresholdedGate,
    "stretched": StretchedGate,
    "continuous": ContinuousGate,
}


def gate(form: str, a: Tensor | float, b: Tensor | float, **options: Any) -> KumaraswamyGate:
    """Return the gate of a named form: `gate("stretched", a, b)` is `StretchedGate(a, b)`.

    options: arguments of the form (`threshold`, or `lower` and `upper`) and `validate_args`.
    """
    if form not in GATE_FORMS:
        raise ValueError(f"unknown gate form {form!r}; choose from {', '.join(sorted(GATE_FORMS))}")
    return GATE_FORMS[form](a, b, **options)


def reachable_rates(form: str, low: float, high: float, **options: float) -> tuple[float, float]:
    """Return the lowest and highest P(open) of a form if a and b are in [low, high].

    P(open) = (1 − oᵃ)ᵇ, where o is the `opening`, rises with a and falls with b, so the extremes
    are at (a, b) = (low, high) and (high, low).
    """
    if not 0 < low <= high:
        raise ValueError(f"the range of a and b needs 0 < low <= high, got low={low}, high={high}")
    a = torch.tensor([low, high], dtype=torch.float64)
    lowest, highest = gate(form, a, a.flip(0), **options).prob_open().tolist()
    return lowest, highest


def check_rate(rate: float, form: str, low: float, high: float, **options: float) -> None:
    """Raise ValueError unless some a, b in [low, high] give the form P(open) = rate."""
    lowest, highest = reachable_rates(form, low, high, **options)
    if not lowest <= rate <= highest:
        raise ValueError(
            f"{form} gates with a, b in [{low:g}, {high:g}] cannot be open at a rate of {rate:g}; "
            f"choose a rate in [{lowest:.4g}, {highest:.4g}] or widen the range of a, b"
        )


def expected_sparsity(prob_closed: Tensor, mask: Tensor) -> Tensor:
    """Return the expected fraction of open gates: Σₜ mₜ (1 − P0ₜ) / Σₜ mₜ, 0 for an empty mask.

    prob_closed: (…, words)   mask: (…, words), True for words, False for padding   returns: (…)
    """
    _check_mask(prob_closed, mask)
    mask = mask.bool()
    is_open = torch.where(mask, 1 - prob_closed, torch.zeros_like(prob_closed))
    return is_open.sum(-1) / mask.sum(-1).clamp(min=1)


def expected_fused_lasso(prob_closed: Tensor, mask: Tensor) -> Tensor:
    """Return the expected number of changes between closed and open, for independent gates.

        Σₜ P0ₜ (1 − P0ₜ₊₁) + (1 − P0ₜ) P0ₜ₊₁   over the pairs of words that are both in the mask

    prob_closed: (…, words)   mask: (…, words), True for words, False for padding   returns: (…)
    """
    _check_mask(prob_closed, mask)
    mask = mask.bool()
    p = torch.where(mask, prob_closed, torch.zeros_like(prob_closed))
    left, right = p[..., :-1], p[..., 1:]
    changes = left * (1 - right) + (1 - left) * right
    return (changes * (mask[..., :-1] & mask[..., 1:])).sum(-1)


def _check_mask(prob_closed: Tensor, mask: Tensor) -> None:
    if prob_closed.ndim == 0 or mask.shape != prob_closed.shape:
        raise ValueError(
            "`prob_closed` and `mask` must both have shape (…, words), "
            f"got {tuple(prob_closed.shape)} and {tuple(mask.shape)}"
        )
