"""Training gates that leave a classifier the words it needs."""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional

from thresher.gates.lagrangian import Multiplier, Weighting
from thresher.gates.selector import Selector, seeded_selector
from thresher.maths.hard_kumaraswamy import KumaraswamyGate
from thresher.rationales.classifier import Classifier, Reader
from thresher.rationales.corpus import Corpus, endless_batches, per_text
from thresher.rationales.estimators import Estimate, Estimator, estimator
from thresher.rationales.inference import probabilities
from thresher.rationales.objective import TERMS, expected_terms
from thresher.rationales.settings import RationaleSettings

OPEN = 0.5  # a word is in the rationale from this P(open) on
_WARM_UP = 20  # steps
_LONGEST_GRADIENT = 5.0
_TOLERANCE = 0.02  # by which a term may miss its target on held-out texts
_COLLAPSED_BELOW, _COLLAPSED_ABOVE = 0.005, 0.95

Rank = tuple[bool, float, float]


@dataclass(frozen=True)
class Check:
    """Where training stands, on held-out texts with the gates decided and not sampled.

    task: −log p of the label asked for   kept: the share of texts that get it
    selected: the share of words in rationales
    terms: the expected terms   weights: their λ at that step
    """

    step: int
    task: float
    kept: float
    selected: float
    terms: Mapping[str, float]
    weights: Mapping[str, float]


@dataclass
class GateTraining:
    """Everything that changes while gates are trained."""

    selector: Selector
    classifier: Classifier
    optimizer: torch.optim.AdamW
    weightings: dict[str, Weighting]
    estimate: Estimator

    @classmethod
    def new(
        cls, settings: RationaleSettings, classifier: Classifier, device: torch.device
    ) -> "GateTraining":
        """A start that follows from the seed alone; a frozen classifier stays as it is."""
        width = classifier.norm.normalized_shape[0]
        selector = seeded_selector(
            settings.seed, width, hidden=settings.hidden, form=settings.form
        ).to(device)
        learned: list[nn.Module] = [selector]
        if settings.mode == "joint":
            learned.append(classifier.requires_grad_(True))
        optimizer = torch.optim.AdamW(
            [parameter for module in learned for parameter in module.parameters()],
            lr=settings.learning_rate,
            weight_decay=settings.weight_decay,
        )
        return cls(
            selector,
            classifier,
            optimizer,
            {term: settings.weighting(term) for term in TERMS},
            estimator(settings.estimator, baseline=settings.baseline, samples=settings.samples),
        )

    def weights(self) -> dict[str, float]:
        """λ of every term."""
        return {name: weighting.weight for name, weighting in self.weightings.items()}


@dataclass(frozen=True)
class TrainedGates:
    """The gates and the classifier at the check that was chosen."""

    selector: Selector
    classifier: Classifier
    checks: tuple[Check, ...]
    chosen: Check


def train_gates(
    reader: Reader,
    corpus: Corpus,
    classifier: Classifier,
    *,
    learn: Sequence[int],
    held_out: Sequence[int],
    settings: RationaleSettings,
    after_step: Callable[[int], None] = lambda steps: None,
) -> TrainedGates:
    """Gates for which the classifier, given the words they let through, answers `corpus.labels`.

    The state kept is that of the best check. Total losses cannot be compared while λ moves, so a
    check is judged by whether the gates have collapsed, then by how far targets are missed, then
    by the task and the terms of fixed weight.
    """
    state = GateTraining.new(settings, classifier, reader.encoder.device)
    noise = Generator(reader.encoder.device).manual_seed(settings.seed)
    lengths = [len(words) for words in corpus.texts]
    batches = endless_batches(learn, lengths, size=settings.texts_per_batch, seed=settings.seed)
    best = _Best()
    checks: list[Check] = []
    for step in range(1, settings.steps + 1):
        _set_learning_rate(state, settings, step)
        _take_step(state, reader, corpus, next(batches), settings, noise)
        after_step(1)
        if _is_checked(step, settings):
            checks.append(_check(state, reader, corpus, held_out, settings, step))
            best.offer(rank_of(checks[-1], state.weightings), checks[-1], state)
    return TrainedGates(*best.restored(state), tuple(checks), best.check)


class _Best:
    """The state of the check that ranks first so far."""

    def __init__(self) -> None:
        self.rank: Rank = (True, math.inf, math.inf)
        self.check: Check
        self.weights: list[dict[str, Any]] = []

    def offer(self, rank: Rank, check: Check, state: GateTraining) -> None:
        """Keep this state if it ranks before the one that is kept, or is the first."""
        if not self.weights or rank < self.rank:
            self.rank, self.check = rank, check
            modules = (state.selector, state.classifier)
            self.weights = [copy.deepcopy(each.state_dict()) for each in modules]

    def restored(self, state: GateTraining) -> tuple[Selector, Classifier]:
        """The modules of the state, with the weights that were kept."""
        state.selector.load_state_dict(self.weights[0])
        state.classifier.load_state_dict(self.weights[1])
        for module in (state.selector, state.classifier):
            module.eval().requires_grad_(False)
        return state.selector, state.classifier


def _is_checked(step: int, settings: RationaleSettings) -> bool:
    """So that checks are evenly spread, the last one at the last step."""
    before, now = ((each * settings.checks) // settings.steps for each in (step - 1, step))
    return now > before


def collapse(selected: float) -> str | None:
    """What has become of gates that select hardly any word, or nearly all."""
    if selected < _COLLAPSED_BELOW:
        return "closed nearly everywhere"
    return "open nearly everywhere" if selected > _COLLAPSED_ABOVE else None


def rank_of(check: Check, weightings: Mapping[str, Weighting]) -> Rank:
    """(collapsed, by how much targets are missed, task + Σ λ · term of fixed λ): least is best."""
    missed, loss = 0.0, check.task
    for name, value in check.terms.items():
        weighting = weightings[name]
        if isinstance(weighting, Multiplier):
            missed += max(0.0, value - weighting.target - _TOLERANCE)
        else:
            loss += weighting.weight * value
    return collapse(check.selected) is not None, missed, loss


def estimated_task(
    state: GateTraining,
    reader: Reader,
    corpus: Corpus,
    indices: Sequence[int],
    gates: KumaraswamyGate,
    noise: Generator,
) -> Estimate:
    """The task term of a batch from sampled gates, and the surrogate to go back through."""
    device = reader.encoder.device
    batch = reader.batch(corpus.words(indices))
    targets = corpus.labels[list(indices)].to(device)

    def losses(z: Tensor) -> Tensor:
        logits = state.classifier(reader.vectors(batch, z))
        return functional.cross_entropy(logits, targets, reduction="none")

    return state.estimate(losses, gates, batch.sentence_of_word, generator=noise)


def _take_step(
    state: GateTraining,
    reader: Reader,
    corpus: Corpus,
    indices: Sequence[int],
    settings: RationaleSettings,
    noise: Generator,
) -> None:
    gates: KumaraswamyGate = state.selector(corpus.vectors_of(indices, reader.encoder.device))
    task = estimated_task(state, reader, corpus, indices, gates, noise)
    terms = _terms(corpus, indices, gates, settings)
    regularisers = [state.weightings[name].weighted(value) for name, value in terms.items()]
    state.optimizer.zero_grad(set_to_none=True)
    torch.stack([task.surrogate, *regularisers]).sum().backward()  # type: ignore[no-untyped-call]
    for group in state.optimizer.param_groups:
        torch.nn.utils.clip_grad_norm_(group["params"], _LONGEST_GRADIENT)
    state.optimizer.step()


def _terms(
    corpus: Corpus, indices: Sequence[int], gates: KumaraswamyGate, settings: RationaleSettings
) -> dict[str, Tensor]:
    device = gates.a.device
    return expected_terms(
        gates,
        corpus.text_of_word(indices, device),
        rate=settings.expected_rate,
        opinions=corpus.opinions_of(indices, device),
    )


def _check(
    state: GateTraining,
    reader: Reader,
    corpus: Corpus,
    held_out: Sequence[int],
    settings: RationaleSettings,
    step: int,
) -> Check:
    device = reader.encoder.device
    texts = corpus.words(held_out)
    labels = corpus.labels[list(held_out)].to(device)
    with torch.no_grad():
        gates: KumaraswamyGate = state.selector(corpus.vectors_of(held_out, device))
        opened = gates.prob_open() >= OPEN
        kept = per_text(opened.float(), texts)
        answers = probabilities(reader, state.classifier, texts, kept)
        terms = _terms(corpus, held_out, gates, settings)
    return Check(
        step=step,
        task=float(functional.nll_loss(answers.clamp(min=1e-9).log(), labels)),
        kept=float((answers.argmax(-1) == labels).float().mean()),
        selected=float(opened.float().mean()),
        terms={name: float(value) for name, value in terms.items()},
        weights=state.weights(),
    )


def _set_learning_rate(state: GateTraining, settings: RationaleSettings, step: int) -> None:
    """Up over the first steps, then down in a straight line."""
    factor = min(1.0, step / _WARM_UP) * (1 - (step - 1) / settings.steps)
    for group in state.optimizer.param_groups:
        group["lr"] = settings.learning_rate * factor
