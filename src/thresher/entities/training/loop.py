"""Training a selector on raw sentences: cached vectors, a prior, and what removal does."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from thresher.encoders.device_transfer import to_device
from thresher.encoders.protocol import Encoder, TokenBatch
from thresher.entities.training.settings import EntitySettings
from thresher.entities.training.state import EpochReport, Terms, TrainingState
from thresher.errors import InputError
from thresher.gates.distributed import SINGLE_PROCESS, ProcessGroup
from thresher.gates.objective import (
    agreement,
    continuity,
    contrast,
    rate_divergence,
    sparsity,
)
from thresher.gates.selector import Selector
from thresher.gates.word_vectors import Units, sentence_starts
from thresher.maths.hard_kumaraswamy import KumaraswamyGate

_WARM_UP = 50  # steps
_DUAL_STEP = 0.1  # η; with larger ones λ_s runs far off before the gates can follow it
_POOL = 16  # batches drawn at random together, then sorted by length among themselves


@dataclass(frozen=True)
class Corpus:
    """Raw sentences with what was computed of them once.

    vectors: (units, width), float16   prior: (units,), NaN for no opinion
    units: what has a vector and gets a gate
    """

    sentences: Sequence[Sequence[str]]
    vectors: NDArray[np.float16]
    prior: NDArray[np.float32]
    units: Units

    def __post_init__(self) -> None:
        units = self.units.starts[-1]
        if not len(self.vectors) == len(self.prior) == units:
            raise ValueError(
                f"one vector and one opinion per unit: {units} units, "
                f"{len(self.vectors)} vectors, {len(self.prior)} opinions"
            )


def train(
    state: TrainingState,
    encoder: Encoder,
    corpus: Corpus,
    settings: EntitySettings,
    *,
    after_step: Callable[[], None] = lambda: None,
    after_epoch: Callable[[EpochReport], None] = lambda report: None,
    processes: ProcessGroup = SINGLE_PROCESS,
) -> list[Selector]:
    """Run the epochs that the state has not seen yet; the state is changed in place.

    Several processes that are given the same do what one would, each a share of the encoding.
    """
    while state.epoch < settings.epochs:
        _run_epoch(state, encoder, corpus, settings, after_step, processes)
        after_epoch(state.conclude_epoch())
    return [selector.eval() for selector in state.selectors]


def steps_per_epoch(sentences: int, settings: EntitySettings) -> int:
    """How many batches an epoch has."""
    return math.ceil(sentences / settings.sentences_per_batch)


def _run_epoch(
    state: TrainingState,
    encoder: Encoder,
    corpus: Corpus,
    settings: EntitySettings,
    after_step: Callable[[], None],
    processes: ProcessGroup,
) -> None:
    """The steps of an epoch that the state has not taken yet."""
    # Every epoch has random numbers of its own, so that a resumed run meets the same ones.
    order = np.random.default_rng([settings.seed, state.epoch])
    noise = Generator(encoder.device).manual_seed(settings.seed * 100_003 + state.epoch)
    if state.noise is not None:
        noise.set_state(state.noise)
    steps = steps_per_epoch(len(corpus.sentences), settings)
    for number, indices in enumerate(_shuffled_batches(corpus, settings, order)):
        with_contrast = settings.contrast > 0 and order.random() < settings.contrast_share
        if number < state.step:
            continue
        _set_learning_rate(state, settings, state.epoch * steps + number, settings.epochs * steps)
        gates, terms = _terms(
            state, encoder, corpus, settings, indices, noise, with_contrast, processes
        )
        loss = torch.stack([weight * term for weight, term in terms.values()]).sum()
        state.optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        processes.average_gradients(
            each for group in state.optimizer.param_groups for each in group["params"]
        )
        state.optimizer.step()
        rates = [float(each.prob_open().detach().mean()) for each in gates]
        if not all(map(math.isfinite, rates)):
            raise InputError(
                f"the loss is no number any more in epoch {state.epoch + 1}: "
                "choose smaller weights for contrast, sparsity or divergence"
            )
        _adapt_sparsity(state, settings, rates)
        state.count(terms, rates)
        state.step, state.noise = number + 1, noise.get_state()
        after_step()


def _terms(
    state: TrainingState,
    encoder: Encoder,
    corpus: Corpus,
    settings: EntitySettings,
    indices: Sequence[int],
    noise: Generator,
    with_contrast: bool,
    processes: ProcessGroup,
) -> tuple[list[KumaraswamyGate], Terms]:
    """The gates of a batch by each selector, and the terms of the objective."""
    rows = corpus.units.rows(indices)
    vectors = to_device(torch.from_numpy(corpus.vectors[rows]), encoder.device).float()
    prior = to_device(torch.from_numpy(corpus.prior[rows]), encoder.device)
    batch = None
    if with_contrast:
        batch = settings.features.batch(encoder, [corpus.sentences[i] for i in indices])
    gates: list[KumaraswamyGate] = [selector(vectors) for selector in state.selectors]
    terms: Terms = {}
    for number, each in enumerate(gates):
        own = _selector_terms(
            number, each, prior, encoder, batch, state, settings, noise, processes
        )
        after = f" {number + 1}" if number else ""
        terms |= {name + after: weighted for name, weighted in own.items()}
    if settings.dual is not None:
        terms["divergence"] = settings.dual.term(gates)
    return gates, terms


def _selector_terms(
    number: int,
    gates: KumaraswamyGate,
    prior: Tensor,
    encoder: Encoder,
    batch: TokenBatch | None,
    state: TrainingState,
    settings: EntitySettings,
    noise: Generator,
    processes: ProcessGroup,
) -> Terms:
    """The terms of one selector; those of what removal does if there is a batch for it."""
    terms: Terms = {}
    target = settings.target_rates[number]
    taught = settings.dual is None or settings.dual.taught(number)
    if taught:
        terms["agreement"] = (settings.agreement, agreement(gates, prior))
    elif target is not None:  # nothing else would open the gates that another repels
        terms["rate"] = (settings.agreement, rate_divergence(gates.prob_open(), target))
    if batch is not None:
        z = gates.rsample(generator=noise)
        rationale, complement = contrast(
            encoder,
            batch,
            z,
            temperature=settings.temperature,
            gates_at=settings.gates_at,
            keep=settings.filter,
            processes=processes,
        )
        terms["rationale"] = (settings.contrast, rationale)
        terms["complement"] = (-settings.contrast * settings.complement, complement)
        terms["continuity"] = (settings.continuity, continuity(z, batch.sentence_of_word))
    if batch is not None or (taught and target is not None):
        weight = state.sparsity_weights[number]
        terms["sparsity"] = (weight, sparsity(gates.prob_open()))
    return terms


def _shuffled_batches(
    corpus: Corpus, settings: EntitySettings, order: np.random.Generator
) -> Iterator[list[int]]:
    """Every sentence once, in batches of like length that differ from epoch to epoch."""
    size = settings.sentences_per_batch
    lengths = np.diff(sentence_starts(corpus.sentences))
    shuffled = order.permutation(len(corpus.sentences))
    for low in range(0, len(shuffled), size * _POOL):
        pool = shuffled[low : low + size * _POOL]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches = [pool[i : i + size].tolist() for i in range(0, len(pool), size)]
        yield from (batches[i] for i in order.permutation(len(batches)))


def _set_learning_rate(
    state: TrainingState, settings: EntitySettings, step: int, steps: int
) -> None:
    """Up over the first steps, then down to nothing in a straight line."""
    factor = min(1.0, (step + 1) / _WARM_UP) * (1 - step / steps)
    for group in state.optimizer.param_groups:
        group["lr"] = settings.learning_rate * factor


def _adapt_sparsity(state: TrainingState, settings: EntitySettings, rates: Sequence[float]) -> None:
    """λ_s ← λ_s · exp(η c), c the smoothed distance of the rate above its target."""
    for number, (rate, target) in enumerate(zip(rates, settings.target_rates, strict=True)):
        if target is not None:
            error = 0.9 * state.rate_errors[number] + 0.1 * (rate - target)
            weight = state.sparsity_weights[number] * math.exp(_DUAL_STEP * error)
            state.rate_errors[number] = error
            state.sparsity_weights[number] = min(max(weight, 1e-4), 1e3)
