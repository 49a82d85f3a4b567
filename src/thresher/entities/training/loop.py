"""Train selectors on encoded raw sentences, with a prior and the contrast of gated sentences."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from thresher.encoders.protocol import Encoder, TokenBatch
from thresher.entities.training.settings import EntitySettings
from thresher.entities.training.state import EpochReport, Terms, TrainingState
from thresher.gates.batching import sentence_starts, shuffled_batches
from thresher.gates.contrast import contrast
from thresher.gates.objective import agreement, continuity, rate_divergence, sparsity
from thresher.gates.optimization import set_learning_rate, take_step
from thresher.gates.selector import Selector
from thresher.gates.word_vectors import EncodedCorpus
from thresher.maths.hard_kumaraswamy import KumaraswamyGate
from thresher.training_processes import SINGLE_PROCESS, Processes

_WARM_UP_STEPS = 50


@dataclass(frozen=True)
class TrainingCorpus(EncodedCorpus):
    """Encoded sentences with a prior: (units,), NaN where it gives no probability."""

    prior: NDArray[np.float32]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_one_per_unit("prior probability", self.prior)


def train_selectors(
    state: TrainingState,
    encoder: Encoder,
    corpus: TrainingCorpus,
    settings: EntitySettings,
    *,
    after_step: Callable[[], None] = lambda: None,
    after_epoch: Callable[[EpochReport], None] = lambda report: None,
    processes: Processes = SINGLE_PROCESS,
) -> list[Selector]:
    """Run the remaining epochs, and return the trained selectors; changes the state in place.

    processes: those that train together on the same corpus, and divide the encoding
    """
    loop = _TrainingLoop(state, encoder, corpus, settings, processes)
    while state.epoch < settings.epochs:
        loop.run_epoch(after_step)
        after_epoch(state.end_epoch())
    return [selector.eval() for selector in state.selectors]


def steps_per_epoch(sentences: int, settings: EntitySettings) -> int:
    """Return the number of batches of an epoch."""
    return math.ceil(sentences / settings.sentences_per_batch)


@dataclass(frozen=True)
class _TrainingLoop:
    state: TrainingState
    encoder: Encoder
    corpus: TrainingCorpus
    settings: EntitySettings
    processes: Processes

    def run_epoch(self, after_step: Callable[[], None]) -> None:
        """Take the steps of the epoch that are not done yet."""
        state, settings = self.state, self.settings
        # Each epoch has its own random numbers, so that a resumed run draws the same ones.
        order = np.random.default_rng([settings.seed, state.epoch])
        noise = Generator(self.encoder.device)
        noise.manual_seed(settings.seed * 100_003 + state.epoch)
        if state.generator_state is not None:
            noise.set_state(state.generator_state)
        batches = shuffled_batches(
            np.arange(len(self.corpus.sentences)),
            np.diff(sentence_starts(self.corpus.sentences)),
            sentences_per_batch=settings.sentences_per_batch,
            generator=order,
        )
        for number, indices in enumerate(batches):
            with_contrast = settings.contrast > 0 and order.random() < settings.contrast_share
            if number < state.step:
                continue
            self._take_step(number, indices, noise, with_contrast=with_contrast)
            state.step, state.generator_state = number + 1, noise.get_state()
            after_step()

    def _take_step(
        self, number: int, indices: Sequence[int], noise: Generator, *, with_contrast: bool
    ) -> None:
        state = self.state
        steps = steps_per_epoch(len(self.corpus.sentences), self.settings)
        set_learning_rate(
            state.optimizer,
            step=state.epoch * steps + number,
            steps=self.settings.epochs * steps,
            warm_up=_WARM_UP_STEPS,
        )
        gates, terms = self._terms(indices, noise, with_contrast=with_contrast)
        take_step(
            state.optimizer,
            torch.stack([weight * term for weight, term in terms.values()]).sum(),
            when=f"in epoch {state.epoch + 1}",
            processes=self.processes,
        )
        rates = [float(each.prob_open().detach().mean()) for each in gates]
        for weight, rate in zip(state.sparsity_weights, rates, strict=True):
            weight.update_for(rate)
        state.add_step(terms, rates)

    def _terms(
        self, indices: Sequence[int], noise: Generator, *, with_contrast: bool
    ) -> tuple[list[KumaraswamyGate], Terms]:
        """Return the gates of a batch by each selector, and the terms of the objective."""
        corpus, device = self.corpus, self.encoder.device
        vectors = corpus.vectors_of(indices, device)
        prior = corpus.values_of(corpus.prior, indices, device)
        batch = None
        if with_contrast:
            batch = self.settings.features.batch(self.encoder, corpus.words(indices))
        gates: list[KumaraswamyGate] = [selector(vectors) for selector in self.state.selectors]
        terms: Terms = {}
        for number, each in enumerate(gates):
            own_terms = self._prior_terms(number, each, prior)
            if batch is not None:
                own_terms |= self._contrast_terms(each, batch, noise)
            if self._has_sparsity(number, with_contrast=with_contrast):
                weight = self.state.sparsity_weights[number].weight
                own_terms["sparsity"] = (weight, sparsity(each.prob_open()))
            suffix = f" {number + 1}" if number else ""
            terms |= {name + suffix: weighted for name, weighted in own_terms.items()}
        if self.settings.dual is not None:
            terms["divergence"] = self.settings.dual.term(gates)
        return gates, terms

    def _learns_from_prior(self, number: int) -> bool:
        dual = self.settings.dual
        return dual is None or dual.learns_from_prior(number)

    def _has_sparsity(self, number: int, *, with_contrast: bool) -> bool:
        has_target = self.settings.target_rates[number] is not None
        return with_contrast or (has_target and self._learns_from_prior(number))

    def _prior_terms(self, number: int, gates: KumaraswamyGate, prior: Tensor) -> Terms:
        """Return the agreement with the prior or, for a repelled selector, with its target rate."""
        weight, target = self.settings.agreement, self.settings.target_rates[number]
        if self._learns_from_prior(number):
            return {"agreement": (weight, agreement(gates, prior))}
        if target is not None:  # no other term would open these gates
            return {"rate": (weight, rate_divergence(gates.prob_open(), target))}
        return {}

    def _contrast_terms(self, gates: KumaraswamyGate, batch: TokenBatch, noise: Generator) -> Terms:
        """Return the terms that depend on sampled gates."""
        settings = self.settings
        z = gates.rsample(generator=noise)
        rationale, complement = contrast(
            self.encoder,
            batch,
            z,
            temperature=settings.temperature,
            gates_at=settings.gates_at,
            vector_filter=settings.filter,
            processes=self.processes,
        )
        return {
            "rationale": (settings.contrast, rationale),
            "complement": (-settings.contrast * settings.complement, complement),
            "continuity": (settings.continuity, continuity(z, batch.sentence_of_word)),
        }
