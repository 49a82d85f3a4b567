"""The hyper-parameters of a finder: one set for all domains."""

from dataclasses import dataclass, fields

from thresher.gates.features import MEAN, Features
from thresher.gates.objective import GATES_AT
from thresher.gates.selector import PARAMETER_RANGES, require_rate
from thresher.gates.variants import UNITS, DualModels, FourierFilter
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
    """How a selector is trained.

    unit: what gets a gate of its own, a "word" or each "subword" of it
    attention: also read what a word receives and pays, in a layer of the encoder or their "mean"
    filter: the frequencies of sentence vectors that the contrast compares
    dual: several selectors that agree or differ
    agreement, contrast, complement, sparsity, continuity: the weights λ_e, λ_con, λ_cmp, λ_s, λ_tv
    contrast_share: the share of batches on which gates are sampled and sentences encoded again
    target_rate: hold P(open) at this rate by a Lagrangian that adapts λ_s, instead of a fixed λ_s
    repeated_rate: the prior of a lower-case word that is rare in general and comes again nearby
    rare_rate: the prior of a rare word, where rarity is one of the priors
    bursty_rate: the share of words with the most evidence that are taken for entities, where
    burstiness, contexts or surprisal are among the priors
    """

    form: str = "thresholded"
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
        require_choice("form", self.form, sorted(PARAMETER_RANGES))
        require_choice("gates_at", self.gates_at, GATES_AT)
        require_choice("unit", self.unit, UNITS)
        if self.attention not in (None, MEAN):
            layer = isinstance(self.attention, int) and self.attention >= 1
            require(layer, "attention", repr(self.attention), f"a layer, or {MEAN!r}")
        require_fields(self, ("hidden", "epochs", "sentences_per_batch"), at_least=1)
        require_fields(self, ("learning_rate", "temperature"), above=0)
        rates = ("contrast_share", "repeated_rate", "rare_rate", "bursty_rate")
        require_fields(self, rates, at_least=0, at_most=1)
        require_fields(self, _NOT_NEGATIVE, at_least=0)
        for rate in self.target_rates:
            if rate is not None:
                require_rate("target_rate", rate, self.form)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of all settings."""
        return tuple(each.name for each in fields(cls))

    @property
    def features(self) -> Features:
        """What a selector reads."""
        return Features(unit=self.unit, attention=self.attention)

    @property
    def selectors(self) -> int:
        """How many selectors are trained."""
        return self.dual.selectors if self.dual else 1

    @property
    def sparsities(self) -> tuple[float, ...]:
        """λ_s of each selector, to begin with."""
        return (self.dual and self.dual.sparsity) or (self.sparsity,) * self.selectors

    @property
    def target_rates(self) -> tuple[float | None, ...]:
        """The target rate of each selector."""
        return (self.dual and self.dual.target_rates) or (self.target_rate,) * self.selectors
