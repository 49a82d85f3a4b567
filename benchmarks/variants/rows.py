"""The rows of the variant benchmark: changes to the default settings, and baselines."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.variants.baselines import (
    Baseline,
    attention_scores,
    capital_scores,
    leave_one_out_scores,
    rarity_scores,
)
from thresher.encoders import Encoder
from thresher.entities.finding.text_finder import SplitText
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.training.settings import EntitySettings
from thresher.gates.variants import DualModels, FourierFilter

BASELINE_RATE = 0.1  # the fraction of words of raw text that the threshold of a baseline selects
_NO_PRIOR = PriorKnowledge(priors=("none",))
# Without a prior, the contrastive term and a target rate train the gates alone.
_CONTRAST_ONLY = {"contrast": 1.0, "contrast_share": 0.3, "target_rate": 0.12}


@dataclass(frozen=True)
class Row:
    """One way to train a finder.

    changes: changes to the default `EntitySettings`
    """

    changes: dict[str, Any] = field(default_factory=dict)
    prior_knowledge: PriorKnowledge = field(default_factory=PriorKnowledge)

    def settings(self, seed: int) -> EntitySettings:
        return EntitySettings(seed=seed, **self.changes)


def _filter(kind: str, cutoff: float, upper: float = 1.0) -> dict[str, Any]:
    return {"filter": FourierFilter(kind=kind, cutoff=cutoff, upper=upper)}


def _align(selectors: int) -> DualModels:
    return DualModels(selectors=selectors, relation="align", weight=1.0)


def _repel(*rates: float | None) -> DualModels:
    return DualModels(selectors=len(rates), relation="repel", target_rates=rates)


ROWS = {
    "default": Row(),
    "pooled gates": Row({"gates_at": "pool"}),
    "stretched gates": Row({"form": "stretched"}),
    "continuous gates": Row({"form": "continuous"}),
    "subword gates": Row({"unit": "subword"}),
    "attention, mean": Row({"attention": "mean"}),
    "attention, layer 1": Row({"attention": 1}),
    "attention, layer 4": Row({"attention": 4}),
    "low-pass .1": Row(_filter("low", 0.1)),
    "low-pass .5": Row(_filter("low", 0.5)),
    "high-pass .1": Row(_filter("high", 0.1)),
    "high-pass .5": Row(_filter("high", 0.5)),
    "band-pass .1-.5": Row(_filter("band", 0.1, 0.5)),
    "align 2": Row({"dual": _align(2)}),
    "align 3": Row({"dual": _align(3)}),
    "repel 2": Row({"dual": _repel(None, 0.15)}),
    "repel 3": Row({"dual": _repel(None, 0.15, 0.15)}),
    "repel 3, more contrast": Row(
        {"dual": _repel(None, 0.15, 0.15), "contrast": 0.3, "contrast_share": 0.2}
    ),
    "repel 3, no prior": Row(
        {**_CONTRAST_ONLY, "contrast_share": 0.2, "dual": _repel(0.12, 0.12, 0.12)},
        _NO_PRIOR,
    ),
    "no contrast": Row({"contrast": 0.0}),
    "more contrast": Row({"contrast_share": 0.5}),
    "target rate .12": Row({"target_rate": 0.12}),
    "no prior": Row(_CONTRAST_ONLY, _NO_PRIOR),
    "no prior, pooled gates": Row({**_CONTRAST_ONLY, "gates_at": "pool"}, _NO_PRIOR),
    "align 2, attention": Row({"dual": _align(2), "attention": "mean"}),
    "align 2, subword gates": Row({"dual": _align(2), "unit": "subword"}),
    "subword gates, attention": Row({"unit": "subword", "attention": "mean"}),
}


def _at_rate(scores: Any, sentences: SplitText) -> Baseline:
    return Baseline(scores).at_rate(sentences[:: max(1, len(sentences) // 500)], BASELINE_RATE)


BASELINES: dict[str, Callable[[Encoder, SplitText], Baseline]] = {
    "capitalised runs": lambda encoder, sentences: Baseline(capital_scores),
    "inverse document frequency": lambda encoder, sentences: _at_rate(
        rarity_scores(sentences), sentences
    ),
    "leave one out, pool": lambda encoder, sentences: _at_rate(
        leave_one_out_scores(encoder, gates_at="pool"), sentences
    ),
    "leave one out, input": lambda encoder, sentences: _at_rate(
        leave_one_out_scores(encoder, gates_at="input"), sentences
    ),
    "attention received": lambda encoder, sentences: _at_rate(attention_scores(encoder), sentences),
}
