"""Fit selectors on raw sentences, calibrate them for finding, and build the model."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thresher.encoders.protocol import Encoder
from thresher.entities.finding.signal_weights import Scores
from thresher.entities.kinds.examples import KindExamples
from thresher.entities.model import FinderModel
from thresher.entities.priors.prior_knowledge import PriorKnowledge
from thresher.entities.priors.scripts import ScriptProfile
from thresher.entities.training.boundaries import BoundaryModels
from thresher.entities.training.kinds import fit_kinds
from thresher.entities.training.loop import TrainingCorpus, steps_per_epoch
from thresher.entities.training.raw_text import RawText
from thresher.entities.training.run import FitRun, fingerprint_of
from thresher.entities.training.settings import EntitySettings
from thresher.errors import InputError
from thresher.gates.batching import sentence_starts
from thresher.gates.selector import Selector, open_probabilities
from thresher.gates.word_vectors import UnitIndex
from thresher.progress import ProgressReporter
from thresher.text.indexed_sentences import IndexedSentences
from thresher.training_processes import current_processes

MIN_WORDS = 200  # with fewer, nothing is learned
FEW_WORDS = 20_000  # with fewer, a warning is given
_MIN_STEPS = 150  # a small text gets more epochs to reach this
_MAX_SHIFT, _BISECTIONS = 8.0, 16  # limits of the search in `shift_to_rate`
_VECTORS_PER_RATE = 65_536  # about this many vectors are enough to measure a rate


def fit_selectors(
    sentences: Sequence[Sequence[str]],
    encoder: Encoder,
    *,
    settings: EntitySettings,
    prior_knowledge: PriorKnowledge,
    kinds: KindExamples | None = None,
    work_dir: Path,
    resume: bool = False,
    progress: ProgressReporter,
) -> FinderModel:
    """Train selectors on raw sentences; `build_model` adds the record of their training.

    Processes that were started together divide the encoding, and end with the same selectors.

    kinds: example names of kinds, each of which gets a gate of its own
    work_dir: keeps word vectors and checkpoints, from which a stopped run can `resume`
    """
    sentences = IndexedSentences.from_sentences(sentences)
    require_enough_words(sentences, progress)
    settings = with_min_steps(settings, len(sentences), own_encoder=not encoder.common_words)
    raw = RawText.analyse(sentences, prior_knowledge, settings, common=encoder.common_words)
    fingerprint = fingerprint_of(sentences, encoder, settings, raw.prior)
    run = FitRun(work_dir, fingerprint, resume, progress, current_processes())
    units = UnitIndex.of_features(settings.features, encoder, sentences)
    vectors = run.vectors(encoder, sentences, settings, units)
    corpus = TrainingCorpus(sentences, vectors, units, raw.prior[units.word])
    selectors = run.train(encoder, corpus, settings)
    fitted = calibrate_selectors(raw, corpus, selectors, encoder, seed=settings.seed)
    return replace(
        fitted, kinds=fit_kinds(raw, corpus, fitted, encoder, kinds, settings.seed, progress)
    )


def require_enough_words(sentences: Sequence[Sequence[str]], progress: ProgressReporter) -> None:
    """Raise InputError for a text too small to learn from, and warn of a small one."""
    starts = sentence_starts(sentences)
    empty = np.flatnonzero(np.diff(starts) == 0)
    if len(empty):
        raise InputError(f"sentence {empty[0] + 1} has no words; leave it out")
    words = int(starts[-1])
    if words < MIN_WORDS:
        raise InputError(f"{words} words are too few to learn from; give at least {MIN_WORDS}")
    if words < FEW_WORDS:
        progress.note(
            f"{words:,} words are few to learn from: expect a rough model below {FEW_WORDS:,}"
        )


def with_min_steps(
    settings: EntitySettings, sentences: int, *, own_encoder: bool = False
) -> EntitySettings:
    """Return settings with enough epochs for the minimum number of steps.

    own_encoder: the encoder was trained on these sentences only, which takes twice as many steps
    """
    steps = 2 * _MIN_STEPS if own_encoder else _MIN_STEPS
    epochs = math.ceil(steps / steps_per_epoch(sentences, settings))
    return replace(settings, epochs=max(settings.epochs, epochs))


def calibrate_selectors(
    raw: RawText,
    corpus: TrainingCorpus,
    selectors: Sequence[Selector],
    encoder: Encoder,
    *,
    seed: int = 0,
) -> FinderModel:
    """Estimate signal weights and thresholds of trained selectors, rounded as they are saved."""
    device = encoder.device
    if raw.rate is not None:
        possible = np.flatnonzero(raw.signals.possible[corpus.units.word])
        sample = corpus.vectors[possible[:: max(1, len(possible) // _VECTORS_PER_RATE)]]
        selectors = [shift_to_rate(raw.rate, each, sample, device) for each in selectors]
    saved = [selector.half().float() for selector in selectors]
    gates = [
        corpus.units.max_per_word(open_probabilities(each, corpus.vectors, device).numpy())
        for each in saved
    ]
    boundaries = BoundaryModels.fit(raw, corpus, seed=seed, device=device)
    calibrated = tuple(
        boundaries.calibrated(each, gate, raw) for each, gate in zip(saved, gates, strict=True)
    )
    entity = best_agreement(gates, raw.reference_prior()) if len(calibrated) > 1 else 0
    return FinderModel(
        encoder=encoder.name,
        layer=encoder.layer,
        selectors=calibrated,
        entity=entity,
        ordinary=raw.ordinary,
        not_names=raw.not_names,
        dates=raw.dates,
        link_gate=boundaries.link_gate,
    )


def shift_to_rate(
    rate: float, selector: Selector, vectors: NDArray[np.float16], device: torch.device
) -> Selector:
    """Return the selector with its gates shifted so that their mean P(open) is the rate.

    Gates that were trained with some entities and many other words learn how these differ, but not
    how many entities there are. Without vectors the selector is returned as it is.

    vectors: (units, width)
    """
    if not len(vectors):
        return selector
    low, high = -_MAX_SHIFT, _MAX_SHIFT
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        opened = open_probabilities(selector.shifted(middle), vectors, device).numpy()
        low, high = (middle, high) if opened.mean() < rate else (low, middle)
    return selector.shifted((low + high) / 2)


def best_agreement(gates: Sequence[Scores], prior: NDArray[np.float32]) -> int:
    """Return the index of the selector whose gates agree best with the prior.

    Agreement is measured as in the objective: the binary cross-entropy of P(open) to the prior,
    over the words for which the prior gives a probability. Without such words the first is chosen.

    gates: for each selector (words,)   prior: (words,), NaN where it gives no probability
    """
    return int(np.argmin([prior_cross_entropy(each, prior) for each in gates]))


def prior_cross_entropy(gate: Scores, prior: NDArray[np.float32]) -> float:
    """Return the mean cross-entropy of gates to the prior; 0 if it gives no probability.

    gate, prior: (words,), the prior is NaN where it gives no probability
    """
    known = ~np.isnan(prior)
    if not known.any():
        return 0.0
    p = np.clip(gate[known].astype(np.float64), 1e-6, 1 - 1e-6)
    target = prior[known]
    return float(-(target * np.log(p) + (1 - target) * np.log1p(-p)).mean())


def build_model(
    fitted: FinderModel,
    settings: EntitySettings,
    prior_knowledge: PriorKnowledge,
    sentences: Sequence[Sequence[str]],
    *,
    ranges: Mapping[str, Tensor] | None = None,
) -> FinderModel:
    """Return a fitted model with its features, ranges and a record of its training.

    ranges: the input ranges of the encoder's layers, if it may run in int8
    """
    return replace(
        fitted,
        features=settings.features,
        ranges=ranges or {},
        learned_from={
            "sentences": len(sentences),
            "words": sum(map(len, sentences)),
            "scripts": ScriptProfile.from_sentences(sentences).main_scripts,
            "settings": asdict(settings),
            "priors": list(prior_knowledge.priors),
            "names": len(prior_knowledge.names),
            "dates": prior_knowledge.dates,
            "rates": dict(prior_knowledge.rates),
            "selected": prior_knowledge.selected,
        },
    )
