"""Train gates that select the words a classifier needs."""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional

from thresher.gates.lagrangian import OpenRateLimits, TermWeight
from thresher.gates.optimization import adamw, set_learning_rate, take_step
from thresher.gates.selector import Selector, seeded_selector
from thresher.maths.hard_kumaraswamy import KumaraswamyGate
from thresher.rationales.choices import RationaleMode
from thresher.rationales.classifier import Classifier, GatedEncoder
from thresher.rationales.corpus import LabelledCorpus, endless_batches, split_by_text
from thresher.rationales.estimators import Estimate, Estimator, make_estimator
from thresher.rationales.inference import probabilities
from thresher.rationales.objective import TERMS, expected_terms
from thresher.rationales.settings import RationaleSettings

OPEN = 0.5  # a word is in the rationale if its P(open) is at least this
OPEN_RATE_LIMITS = OpenRateLimits(low=0.005, high=0.95)
_WARM_UP_STEPS = 20
_MAX_GRADIENT_NORM = 5.0
_TARGET_TOLERANCE = 0.02  # by which a term may miss its target on held-out texts

Rank = tuple[bool, float, float]


@dataclass(frozen=True)
class Check:
    """An evaluation during training, on held-out texts, with P(open) ≥ ½ instead of samples.

    task: −log p of the target label   kept: the fraction of texts for which it is predicted
    selected: the fraction of words in rationales
    terms: the expected terms   weights: their λ at that step
    """

    step: int
    task: float
    kept: float
    selected: float
    terms: Mapping[str, float]
    weights: Mapping[str, float]


@dataclass(frozen=True)
class TrainedGates:
    """The selector and the classifier as they were at the best check."""

    selector: Selector
    classifier: Classifier
    checks: tuple[Check, ...]
    chosen: Check


def train_gates(
    gated_encoder: GatedEncoder,
    corpus: LabelledCorpus,
    classifier: Classifier,
    *,
    training: Sequence[int],
    held_out: Sequence[int],
    settings: RationaleSettings,
    after_step: Callable[[int], None] = lambda steps: None,
) -> TrainedGates:
    """Train gates such that the classifier, given the selected words, answers `corpus.labels`.

    The weights of the best check are returned. Total losses cannot be compared while λ changes, so
    checks are ranked by whether the gates have collapsed, then by how far targets are missed, then
    by the loss of the task and of the terms with fixed weights.

    training, held_out: indices of texts
    """
    loop = GateTraining.new(gated_encoder, corpus, classifier, settings)
    batches = endless_batches(
        training,
        [len(words) for words in corpus.sentences],
        texts_per_batch=settings.texts_per_batch,
        seed=settings.seed,
    )
    best = _BestCheck()
    checks: list[Check] = []
    for step in range(1, settings.steps + 1):
        loop.take_step(step, next(batches))
        after_step(1)
        if _is_checked(step, settings):
            checks.append(loop.check(step, held_out))
            best.update(rank_of(checks[-1], loop.term_weights), checks[-1], loop)
    return TrainedGates(*best.restored(loop), tuple(checks), best.check)


@dataclass
class GateTraining:
    """The state of training, and its steps and checks."""

    gated_encoder: GatedEncoder
    corpus: LabelledCorpus
    settings: RationaleSettings
    selector: Selector
    classifier: Classifier
    optimizer: torch.optim.AdamW
    term_weights: dict[str, TermWeight]
    estimate: Estimator
    generator: Generator

    @classmethod
    def new(
        cls,
        gated_encoder: GatedEncoder,
        corpus: LabelledCorpus,
        classifier: Classifier,
        settings: RationaleSettings,
    ) -> "GateTraining":
        """Return the state at the start, which depends on the seed alone.

        The classifier is trained further in mode "joint" only.
        """
        device = gated_encoder.encoder.device
        width = classifier.norm.normalized_shape[0]
        selector = seeded_selector(
            settings.seed, width, hidden=settings.hidden, form=settings.form
        ).to(device)
        trained: list[nn.Module] = [selector]
        if settings.mode == RationaleMode.JOINT:
            trained.append(classifier.requires_grad_(True))
        return cls(
            gated_encoder=gated_encoder,
            corpus=corpus,
            settings=settings,
            selector=selector,
            classifier=classifier,
            optimizer=adamw(
                trained, learning_rate=settings.learning_rate, weight_decay=settings.weight_decay
            ),
            term_weights={term: settings.term_weight(term) for term in TERMS},
            estimate=make_estimator(
                settings.estimator, baseline=settings.baseline, samples=settings.samples
            ),
            generator=Generator(device).manual_seed(settings.seed),
        )

    def take_step(self, step: int, indices: Sequence[int]) -> None:
        """Take a training step, counted from 1, on a batch of texts."""
        set_learning_rate(
            self.optimizer, step=step - 1, steps=self.settings.steps, warm_up=_WARM_UP_STEPS
        )
        gates = self.gates(indices)
        task = self.estimate_task(indices, gates)
        terms = self._terms(indices, gates)
        penalties = [self.term_weights[name].penalty(value) for name, value in terms.items()]
        take_step(
            self.optimizer,
            torch.stack([task.surrogate, *penalties]).sum(),
            when=f"at step {step}",
            max_gradient_norm=_MAX_GRADIENT_NORM,
        )

    def gates(self, indices: Sequence[int]) -> KumaraswamyGate:
        """Return the gates of the words of some texts."""
        device = self.gated_encoder.encoder.device
        gates: KumaraswamyGate = self.selector(self.corpus.vectors_of(indices, device))
        return gates

    def estimate_task(self, indices: Sequence[int], gates: KumaraswamyGate) -> Estimate:
        """Sample gates, and estimate the loss of the task and its gradient on some texts."""
        batch = self.gated_encoder.encoder.batch(self.corpus.words(indices))
        targets = self.corpus.labels[list(indices)].to(self.gated_encoder.encoder.device)

        def losses(z: Tensor) -> Tensor:
            logits = self.classifier(self.gated_encoder.vectors(batch, z))
            return functional.cross_entropy(logits, targets, reduction="none")

        return self.estimate(losses, gates, batch.sentence_of_word, generator=self.generator)

    def check(self, step: int, held_out: Sequence[int]) -> Check:
        """Evaluate the gates and the classifier on held-out texts."""
        texts = self.corpus.words(held_out)
        labels = self.corpus.labels[list(held_out)].to(self.gated_encoder.encoder.device)
        with torch.no_grad():
            gates = self.gates(held_out)
            opened = gates.prob_open() >= OPEN
            kept = split_by_text(opened.float(), texts)
            answers = probabilities(self.gated_encoder, self.classifier, texts, kept)
            terms = self._terms(held_out, gates)
        return Check(
            step=step,
            task=float(functional.nll_loss(answers.clamp(min=1e-9).log(), labels)),
            kept=float((answers.argmax(-1) == labels).float().mean()),
            selected=float(opened.float().mean()),
            terms={name: float(value) for name, value in terms.items()},
            weights={name: each.weight for name, each in self.term_weights.items()},
        )

    def _terms(self, indices: Sequence[int], gates: KumaraswamyGate) -> dict[str, Tensor]:
        device = gates.a.device
        return expected_terms(
            gates,
            self.corpus.text_of_word(indices, device),
            rate=self.settings.expected_rate,
            prior=self.corpus.prior_of(indices, device),
        )


class _BestCheck:
    """The best check so far, and the weights of the modules at that step."""

    def __init__(self) -> None:
        self.rank: Rank = (True, math.inf, math.inf)
        self.check: Check
        self.weights: list[dict[str, Any]] = []

    def update(self, rank: Rank, check: Check, loop: GateTraining) -> None:
        """Keep this check and the current weights if it is the first or ranks before the best."""
        if not self.weights or rank < self.rank:
            self.rank, self.check = rank, check
            modules = (loop.selector, loop.classifier)
            self.weights = [copy.deepcopy(each.state_dict()) for each in modules]

    def restored(self, loop: GateTraining) -> tuple[Selector, Classifier]:
        """Return the modules with the weights of the best check, frozen."""
        loop.selector.load_state_dict(self.weights[0])
        loop.classifier.load_state_dict(self.weights[1])
        for module in (loop.selector, loop.classifier):
            module.eval().requires_grad_(False)
        return loop.selector, loop.classifier


def _is_checked(step: int, settings: RationaleSettings) -> bool:
    """Whether a check follows a step; checks are spread evenly, the last is at the last step."""
    before, now = ((each * settings.checks) // settings.steps for each in (step - 1, step))
    return now > before


def rank_of(check: Check, term_weights: Mapping[str, TermWeight]) -> Rank:
    """Return (collapsed, how far targets are missed, task + Σ λ · term of fixed λ); low is good."""
    missed, loss = 0.0, check.task
    for name, value in check.terms.items():
        term = term_weights[name]
        if term.target is not None:
            missed += max(0.0, value - term.target - _TARGET_TOLERANCE)
        else:
            loss += term.weight * value
    return OPEN_RATE_LIMITS.collapse(check.selected) is not None, missed, loss
