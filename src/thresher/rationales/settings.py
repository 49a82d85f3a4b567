"""How rationales are learned."""

from dataclasses import dataclass

from thresher.gates.lagrangian import FixedWeight, Multiplier, Weighting
from thresher.gates.objective import GATES_AT
from thresher.gates.selector import PARAMETER_RANGES, require_rate
from thresher.rationales.estimators import BASELINES, ESTIMATORS
from thresher.rationales.objective import TERMS
from thresher.validation import choose, require

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
        choose("mode", self.mode, MODES)
        choose("gates_at", self.gates_at, GATES_AT)
        choose("form", self.form, tuple(sorted(PARAMETER_RANGES)))
        choose("estimator", self.estimator, ESTIMATORS)
        choose("baseline", self.baseline, BASELINES)
        for name in ("samples", "hidden", "steps", "texts_per_batch", "checks"):
            require(getattr(self, name) >= 1, name, getattr(self, name), "at least 1")
        for name in ("learning_rate", "least_weight", "most_weight"):
            require(getattr(self, name) > 0, name, getattr(self, name), "above 0")
        for name in (*TERMS, "weight_decay", "dual_step", "partial_readings", "seed"):
            require(getattr(self, name) >= 0, name, getattr(self, name), "at least 0")
        for name in (*(f"{term}_target" for term in TERMS), "expected_rate"):
            value = getattr(self, name)
            require(value is None or 0 <= value <= 1, name, value, "in [0, 1]")
        require(0 <= self.smoothing < 1, "smoothing", self.smoothing, "in [0, 1)")
        require(0 < self.held_out < 1, "held_out", self.held_out, "in (0, 1)")
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
            require(self.samples >= 2, "samples", self.samples, "at least 2 with baseline others")
        rule = f"at most most_weight, {self.most_weight}"
        require(self.least_weight <= self.most_weight, "least_weight", self.least_weight, rule)
        if self.sparsity_target is not None:
            require_rate("sparsity_target", self.sparsity_target, self.form)
