"""Variants of the objective: Fourier filters of sentence vectors, and several selectors."""

from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from thresher.gates.choices import FilterKind, SelectorRelation
from thresher.maths.fourier_filters import band_pass, high_pass, low_pass
from thresher.maths.hard_kumaraswamy import KumaraswamyGate, symmetric_kl
from thresher.validation import require, require_choice, require_fields, require_number


@dataclass(frozen=True, kw_only=True)
class FourierFilter:
    """A filter of sentence vectors: the contrast compares only some of their frequencies.

    kind: "low" keeps f ≤ cutoff, "high" f > cutoff, "band" cutoff < f ≤ upper
    cutoff, upper: fractions of the Nyquist frequency, in [0, 1]
    """

    kind: str
    cutoff: float
    upper: float = 1.0

    def __post_init__(self) -> None:
        require_choice("filter", self.kind, FilterKind)
        require_fields(self, ("cutoff", "upper"), at_least=0, at_most=1)
        if self.kind == FilterKind.BAND:
            require(self.cutoff < self.upper, "upper", self.upper, f"above `cutoff`, {self.cutoff}")

    def __call__(self, vectors: Tensor) -> Tensor:
        """Return the vectors with these frequencies only: (…, width)."""
        if self.kind == FilterKind.LOW:
            return low_pass(vectors, cutoff=self.cutoff)
        if self.kind == FilterKind.HIGH:
            return high_pass(vectors, cutoff=self.cutoff)
        return band_pass(vectors, low=self.cutoff, high=self.upper)


MAX_SELECTORS = 64  # their divergence is a mean over all pairs, which all are in memory


@dataclass(frozen=True, kw_only=True)
class DualModels:
    """Several selectors that are trained together, whose gates should agree or differ.

    The divergence D is the symmetric KL between gates, averaged over words and pairs of selectors.
    "align" adds λ_kl D to the objective; "repel" adds −λ_kl min(D, cap). Without the cap, one gate
    would open everywhere and the other nowhere.

    With "align" every selector learns from the prior, with "repel" only the first: the others
    learn what else identifies a sentence, and are held at their target rates from both sides.

    weight: λ_kl   cap: in nats
    sparsity, target_rates: one value for each selector, or empty to use those of the settings; a
        target rate may be None
    """

    selectors: int = 2
    relation: str = "repel"
    weight: float = 0.3
    cap: float = 0.5
    sparsity: tuple[float, ...] = ()
    target_rates: tuple[float | None, ...] = ()

    def __post_init__(self) -> None:
        require_number("selectors", self.selectors, at_least=2, at_most=MAX_SELECTORS)
        require_choice("relation", self.relation, SelectorRelation)
        require_number("weight", self.weight, at_least=0)
        require_number("cap", self.cap, above=0)
        for name in ("sparsity", "target_rates"):
            values = getattr(self, name)
            fits = len(values) in (0, self.selectors)
            require(fits, name, len(values), f"one value for each of {self.selectors} selectors")
        for value in self.sparsity:
            require_number("sparsity", value, at_least=0)

    def learns_from_prior(self, selector: int) -> bool:
        """Return True if the selector with this index learns from the prior."""
        return self.relation == SelectorRelation.ALIGN or selector == 0

    def term(self, gates: list[KumaraswamyGate]) -> tuple[float, Tensor]:
        """Return the signed weight of the divergence in the objective, and the divergence."""
        divergence = mean_divergence(gates)
        if self.relation == SelectorRelation.ALIGN:
            return self.weight, divergence
        return -self.weight, divergence.clamp(max=self.cap)


def mean_divergence(gates: list[KumaraswamyGate]) -> Tensor:
    """Return ½ KL(p‖q) + ½ KL(q‖p), averaged over words and over all pairs of selectors."""
    pairs = [symmetric_kl(p, q).mean() for p, q in combinations(gates, 2)]
    return torch.stack(pairs).mean()
