"""Variants of the objective, each a value of its own: Fourier filters and dual models."""

from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from thresher.maths.fourier_filters import band_pass, high_pass, low_pass
from thresher.maths.hard_kumaraswamy import KumaraswamyGate, symmetric_kl
from thresher.validation import require, require_choice, require_number

UNITS = ("word", "subword")
FILTERS = ("low", "high", "band")
RELATIONS = ("align", "repel")


@dataclass(frozen=True, kw_only=True)
class FourierFilter:
    """Which frequencies of a sentence's vector the contrast compares.

    kind: "low" keeps f ≤ cutoff, "high" f > cutoff, "band" cutoff < f ≤ upper
    cutoff, upper: fractions of Nyquist's frequency, in [0, 1]
    """

    kind: str
    cutoff: float
    upper: float = 1.0

    def __post_init__(self) -> None:
        require_choice("filter", self.kind, FILTERS)
        require_number("cutoff", self.cutoff, at_least=0, at_most=1)
        require_number("upper", self.upper, at_least=0, at_most=1)
        if self.kind == "band":
            require(self.cutoff < self.upper, "upper", self.upper, f"above `cutoff`, {self.cutoff}")

    def __call__(self, vectors: Tensor) -> Tensor:
        """The vectors with those frequencies alone: (…, width)."""
        if self.kind == "low":
            return low_pass(vectors, cutoff=self.cutoff)
        if self.kind == "high":
            return high_pass(vectors, cutoff=self.cutoff)
        return band_pass(vectors, low=self.cutoff, high=self.upper)


@dataclass(frozen=True, kw_only=True)
class DualModels:
    """Several selectors trained together, whose gates should agree or differ.

    The divergence D is the symmetric KL between gates, mean over words and over pairs of
    selectors. "align" adds λ_kl D to the objective; "repel" adds −λ_kl min(D, cap): were it not
    capped, one gate would open everywhere and the other nowhere.

    With "align" the prior teaches every selector, with "repel" the first alone: the others look
    for what else carries a sentence, and are held at their target rates from both sides.

    weight: λ_kl   cap: in nats   sparsity, target_rates: one for each selector, or none to use
    those of the settings; a target rate may be None
    """

    selectors: int = 2
    relation: str = "repel"
    weight: float = 0.3
    cap: float = 0.5
    sparsity: tuple[float, ...] = ()
    target_rates: tuple[float | None, ...] = ()

    def __post_init__(self) -> None:
        require_number("selectors", self.selectors, at_least=2)
        require_choice("relation", self.relation, RELATIONS)
        require_number("weight", self.weight, at_least=0)
        require_number("cap", self.cap, above=0)
        for name in ("sparsity", "target_rates"):
            values = getattr(self, name)
            fits = len(values) in (0, self.selectors)
            require(fits, name, len(values), f"one value for each of {self.selectors} selectors")
        for value in self.sparsity:
            require_number("sparsity", value, at_least=0)

    def taught(self, selector: int) -> bool:
        """Whether the prior teaches that selector."""
        return self.relation == "align" or selector == 0

    def term(self, gates: list[KumaraswamyGate]) -> tuple[float, Tensor]:
        """The weight of the divergence in the objective, with its sign, and the divergence."""
        divergence = mean_divergence(gates)
        if self.relation == "align":
            return self.weight, divergence
        return -self.weight, divergence.clamp(max=self.cap)


def mean_divergence(gates: list[KumaraswamyGate]) -> Tensor:
    """½ KL(p‖q) + ½ KL(q‖p), mean over words and over all pairs of selectors."""
    pairs = [symmetric_kl(p, q).mean() for p, q in combinations(gates, 2)]
    return torch.stack(pairs).mean()
