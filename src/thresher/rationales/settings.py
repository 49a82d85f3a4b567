"""How rationales are learned."""

from dataclasses import dataclass

from thresher.gates.lagrangian import FixedWeight, Multiplier, Weighting
from thresher.gates.objective import GATES_AT
from thresher.gates.selector import PARAMETER_RANGES, require_rate
from thresher.rationales.estimators import BASELINES, ESTIMATORS
from thresher.rationales.objective import TERMS
from thresher.validation import require, require_choice, require_fields, require_number

MODES = ("frozen", "joint")


@dataclass(frozen=True, kw_only=True)
class RationaleSettings:
    """How a classifier and its gates are trained.

    mode: "frozen" first learns a classifier from whole texts, then gates that keep its answers;
        "joint" learns both together, the classifier from gated texts
    head_start: whether a joint classifier knows whole texts before there are gates; from nothing,
        as first published, it may find the gates closed before it has learned what to open them for
    gates_at, form: as for entities; where gates close, and how a sample becomes hard
    estimator: "pathwise" through the sample, "reinforce" by the score function, with a baseline
        and several samples of a text if asked for
    sparsity, continuity, selection: the weights λ_s, λ_c, λ_e. With a target (`…_target`) they are
        where a Lagrange multiplier starts that holds the term at or below the target
    expected_rate: π of all words together, the share of them expected to be selected; it keeps
        gates from closing everywhere. π of single words comes with the texts
    smoothing, dual_step, least_weight, most_weight: of the multipliers, α, η and the clamp of λ
    partial_readings: how often a classifier sees each text, before there are gates, with a random
        share of its words taken away, so that its answers to what gates leave mean something
    """

    mode: str = "frozen"
    head_start: bool = True
    gates_at: str = "input"
    form: str = "stretched"
    estimator: str = "pathwise"
    baseline: str = "average"
    samples: int = 1
    hidden: int = 256
    steps: int = 300
    texts_per_batch: int = 16
    learning_rate: float = 2e-3
    weight_decay: float = 1e-2
    sparsity: float = 0.5
    sparsity_target: float | None = 0.15
    continuity: float = 0.0
    continuity_target: float | None = None
    selection: float = 1.0
    selection_target: float | None = None
    expected_rate: float | None = 0.15
    smoothing: float = 0.9
    dual_step: float = 0.1
    least_weight: float = 1e-4
    most_weight: float = 5.0
    partial_readings: int = 2
    held_out: float = 0.1
    checks: int = 8
    seed: int = 0

    def __post_init__(self) -> None:
        require_choice("mode", self.mode, MODES)
        require_choice("gates_at", self.gates_at, GATES_AT)
        require_choice("form", self.form, tuple(sorted(PARAMETER_RANGES)))
        require_choice("estimator", self.estimator, ESTIMATORS)
        require_choice("baseline", self.baseline, BASELINES)
        sizes = ("samples", "hidden", "steps", "texts_per_batch", "checks")
        require_fields(self, sizes, at_least=1)
        require_fields(self, ("learning_rate", "least_weight", "most_weight"), above=0)
        weights = (*TERMS, "weight_decay", "dual_step", "partial_readings", "seed")
        require_fields(self, weights, at_least=0)
        rates = (*(f"{term}_target" for term in TERMS), "expected_rate")
        require_fields(self, rates, at_least=0, at_most=1)
        require_number("smoothing", self.smoothing, at_least=0, below=1)
        require_number("held_out", self.held_out, above=0, below=1)
        self._check_what_goes_together()

    def weighting(self, term: str) -> Weighting:
        """The weight of a term, or the multiplier that starts there."""
        weight: float = getattr(self, term)
        target: float | None = getattr(self, f"{term}_target")
        if target is None:
            return FixedWeight(weight)
        return Multiplier(
            target,
            max(weight, self.least_weight),  # from 0 a multiplier would never rise
            smoothing=self.smoothing,
            step=self.dual_step,
            least=self.least_weight,
            most=self.most_weight,
        )

    def _check_what_goes_together(self) -> None:
        if self.estimator == "reinforce" and self.baseline == "others":
            require(
                self.samples >= 2, "samples", self.samples, "at least 2 with the baseline others"
            )
        rule = f"at most `most_weight`, {self.most_weight}"
        require(self.least_weight <= self.most_weight, "least_weight", self.least_weight, rule)
        if self.sparsity_target is not None:
            require_rate("sparsity_target", self.sparsity_target, self.form)
