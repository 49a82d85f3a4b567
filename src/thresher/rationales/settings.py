"""The settings of rationale training."""

from dataclasses import dataclass

from thresher.gates.choices import GateForm, GatePosition
from thresher.gates.lagrangian import TermWeight
from thresher.gates.selector import require_rate
from thresher.rationales.choices import Baseline, GradientEstimator, RationaleMode
from thresher.rationales.objective import TERMS
from thresher.validation import require, require_choice, require_fields, require_number


@dataclass(frozen=True, kw_only=True)
class RationaleSettings:
    """How a classifier and its gates are trained.

    mode: "frozen" first trains a classifier on whole texts, then gates that keep its answers;
        "joint" trains both together, the classifier on gated texts
    head_start: whether the classifier of mode "joint" is first trained on whole texts. Without it,
        as first published, gates may close before the classifier has learned to use any word
    gates_at: where a closed gate removes a word, at the encoder's "input" or when vectors are
        averaged ("pool")
    form: how a sample becomes a hard gate, "thresholded", "stretched" or "continuous"
    estimator: "pathwise" differentiates through the sample, "reinforce" uses the score function
        with a `baseline` and, optionally, several `samples` per text
    sparsity, continuity, selection: the weights λ_s, λ_c, λ_e. With a target (`…_target`) they are
        the initial value of a Lagrange multiplier that holds the term at or below the target
    expected_rate: the expected fraction of selected words (π of all words together); it keeps gates
        from closing everywhere. π of single words is given with the texts
    smoothing, dual_step, least_weight, most_weight: α, η and the bounds of λ of the multipliers
    partial_readings: how often the classifier sees each text with a random part of its words
        removed, before there are gates, so that it can handle gated texts
    held_out: the fraction of texts that are not trained on, at most 500 texts
    checks: how often the gates are evaluated on held-out texts; the best check is kept
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
        require_choice("mode", self.mode, RationaleMode)
        require_choice("gates_at", self.gates_at, GatePosition)
        require_choice("form", self.form, GateForm)
        require_choice("estimator", self.estimator, GradientEstimator)
        require_choice("baseline", self.baseline, Baseline)
        sizes = ("samples", "hidden", "steps", "texts_per_batch", "checks")
        require_fields(self, sizes, at_least=1)
        require_fields(self, ("learning_rate", "least_weight", "most_weight"), above=0)
        weights = (*TERMS, "weight_decay", "dual_step", "partial_readings", "seed")
        require_fields(self, weights, at_least=0)
        rates = (*(f"{term}_target" for term in TERMS), "expected_rate")
        require_fields(self, rates, at_least=0, at_most=1)
        require_number("smoothing", self.smoothing, at_least=0, below=1)
        require_number("held_out", self.held_out, above=0, below=1)
        self._require_compatible_values()

    def term_weight(self, term: str) -> TermWeight:
        """Return the weight of a term, which is a Lagrange multiplier if the term has a target."""
        weight: float = getattr(self, term)
        target: float | None = getattr(self, f"{term}_target")
        if target is None:
            return TermWeight(weight)
        return TermWeight(
            max(weight, self.least_weight),  # a multiplier of 0 would never grow
            target,
            smoothing=self.smoothing,
            step=self.dual_step,
            min_weight=self.least_weight,
            max_weight=self.most_weight,
        )

    def _require_compatible_values(self) -> None:
        if self.estimator == GradientEstimator.REINFORCE and self.baseline == Baseline.OTHERS:
            require(
                self.samples >= 2, "samples", self.samples, "at least 2 with the baseline others"
            )
        rule = f"at most `most_weight`, {self.most_weight}"
        require(self.least_weight <= self.most_weight, "least_weight", self.least_weight, rule)
        if self.sparsity_target is not None:
            require_rate("sparsity_target", self.sparsity_target, self.form)
