"""The settings of entity training: one set of defaults for all domains."""

import math
from dataclasses import dataclass

from thresher.gates.choices import GateForm, GatePosition, GateUnit
from thresher.gates.features import MEAN_ATTENTION, Features
from thresher.gates.selector import require_rate
from thresher.gates.variants import DualModels, FourierFilter
from thresher.validation import require, require_choice, require_fields

_NOT_NEGATIVE = (
    "agreement",
    "contrast",
    "complement",
    "sparsity",
    "continuity",
    "weight_decay",
    "seed",
)


@dataclass(frozen=True, kw_only=True)
class EntitySettings:
    """How selectors are trained.

    form: how a sample becomes a hard gate, "thresholded", "stretched" or "continuous"
    gate_threshold: a thresholded or continuous gate is open above this value
    stretch_lower, stretch_upper: the interval to which a stretched gate is stretched
    gates_at: where a closed gate removes a word, at the encoder's "input" or when vectors are
        averaged ("pool")
    unit: what has a gate, a "word" or each "subword"
    attention: also use the attention a word receives and gives as features: the number of an
        encoder layer, or "mean" for the mean over layers
    filter: which frequencies of sentence vectors the contrast compares
    dual: several selectors that agree or differ
    agreement, contrast, complement, sparsity, continuity: the weights λ_e, λ_con, λ_cmp, λ_s, λ_tv
    temperature: τ of the contrastive loss
    contrast_share: the fraction of batches for which gates are sampled and sentences encoded again
    target_rate: hold P(open) at this rate with a Lagrange multiplier λ_s, instead of a fixed λ_s
    repeated_rate: the prior of a lower-case word that is rare in general and repeated nearby
    rare_rate: the prior of a rare word, if `rarity` is one of the priors
    bursty_rate: the fraction of words, those with the most evidence, that count as entities if
        `burstiness`, `contexts` or `surprisal` is one of the priors
    """

    form: str = "thresholded"
    gate_threshold: float = 0.5
    stretch_lower: float = -0.1
    stretch_upper: float = 1.1
    gates_at: str = "input"
    unit: str = "word"
    attention: int | str | None = None
    filter: FourierFilter | None = None
    dual: DualModels | None = None
    hidden: int = 256
    epochs: int = 4
    sentences_per_batch: int = 256
    learning_rate: float = 1e-3
    weight_decay: float = 1e-2
    agreement: float = 1.0
    contrast: float = 0.1
    complement: float = 0.5
    sparsity: float = 0.3
    continuity: float = 0.1
    temperature: float = 0.07
    contrast_share: float = 0.1
    target_rate: float | None = None
    repeated_rate: float = 1.0
    rare_rate: float = 0.3
    bursty_rate: float = 0.17
    seed: int = 0

    def __post_init__(self) -> None:
        require_choice("form", self.form, GateForm)
        require_choice("gates_at", self.gates_at, GatePosition)
        require_choice("unit", self.unit, GateUnit)
        if self.attention not in (None, MEAN_ATTENTION):
            layer = isinstance(self.attention, int) and self.attention >= 1
            rule = f"the number of a layer, or {MEAN_ATTENTION!r}"
            require(layer, "attention", repr(self.attention), rule)
        require_fields(self, ("hidden", "epochs", "sentences_per_batch"), at_least=1)
        require_fields(self, ("learning_rate", "temperature"), above=0)
        rates = ("contrast_share", "repeated_rate", "rare_rate", "bursty_rate")
        require_fields(self, rates, at_least=0, at_most=1)
        require_fields(self, _NOT_NEGATIVE, at_least=0)
        require_fields(self, ("gate_threshold",), above=0, below=1)
        require_fields(self, ("stretch_lower",), above=-math.inf, below=0)
        require_fields(self, ("stretch_upper",), above=1, below=math.inf)
        for rate in self.target_rates:
            if rate is not None:
                require_rate("target_rate", rate, self.form, self.gate_options)

    @property
    def gate_options(self) -> dict[str, float]:
        """The arguments of the gate's form; those of other forms are not used."""
        if self.form == GateForm.STRETCHED:
            return {"lower": self.stretch_lower, "upper": self.stretch_upper}
        return {"threshold": self.gate_threshold}

    @property
    def features(self) -> Features:
        """The input of the selectors."""
        return Features(unit=self.unit, attention=self.attention)

    @property
    def selectors(self) -> int:
        """The number of selectors."""
        return self.dual.selectors if self.dual else 1

    @property
    def sparsities(self) -> tuple[float, ...]:
        """The initial λ_s of each selector."""
        return (self.dual and self.dual.sparsity) or (self.sparsity,) * self.selectors

    @property
    def target_rates(self) -> tuple[float | None, ...]:
        """The target rate of each selector."""
        return (self.dual and self.dual.target_rates) or (self.target_rate,) * self.selectors
