"""What training adds to a model about kinds: gates of kinds, and a sample of its entities."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from thresher.encoders.protocol import Encoder
from thresher.entities.finding.signals import Flags
from thresher.entities.finding.word_decoding import WordDecoder
from thresher.entities.kinds.entity_sample import EntitySample, collect_sample
from thresher.entities.kinds.example_prior import NO_KIND, example_prior, kinds_of_words
from thresher.entities.kinds.examples import KindExamples
from thresher.entities.kinds.gates import STEPS, KindGates, kind_scores, train_kind_gates
from thresher.entities.kinds.kind_model import KindModel
from thresher.entities.kinds.span_vectors import Vectors
from thresher.entities.selectors import FittedSelectors
from thresher.entities.training.boundaries import links_of
from thresher.entities.training.loop import TrainingCorpus
from thresher.entities.training.raw_text import RawText
from thresher.gates.selector import open_probabilities
from thresher.gates.word_vectors import UnitIndex
from thresher.progress import ProgressReporter

_MIN_OCCURRENCES = 3  # of the names of a kind; with fewer, a warning is given


def fit_kinds(
    raw: RawText,
    corpus: TrainingCorpus,
    fitted: FittedSelectors,
    encoder: Encoder,
    examples: KindExamples | None,
    seed: int,
    progress: ProgressReporter,
) -> KindModel:
    """Train a gate for each kind, if kinds are given, and collect a sample of entities."""
    vectors = _word_vectors(corpus, encoder.width)
    gates = None
    if examples is not None:
        gates = fit_gates(
            raw.sentences,
            vectors,
            raw.signals.possible,
            examples,
            device=encoder.device,
            seed=seed,
            progress=progress,
        )
    return KindModel(_entity_sample(raw, corpus, vectors, fitted, gates, encoder), gates=gates)


def fit_gates(
    sentences: Sequence[Sequence[str]],
    vectors: NDArray[np.float16] | Vectors,
    possible: Flags,
    examples: KindExamples,
    *,
    device: torch.device,
    seed: int,
    progress: ProgressReporter,
) -> KindGates:
    """Train a gate for each kind on sentences in which example names occur.

    vectors: (words, width)   possible: (words,), whether a word can be part of an entity
    """
    kinds, count = kinds_of_words(sentences, examples), len(examples.kinds)
    occurrences = np.bincount(kinds[kinds != NO_KIND], minlength=count)
    for kind, number in zip(examples.kinds, occurrences.tolist(), strict=True):
        if number < _MIN_OCCURRENCES:
            progress.note(f"names of the kind {kind} occur {number} times; give names of this text")
    prior = example_prior(vectors, kinds, possible, count=count, seed=seed)
    advance = progress.stage("kind gates", STEPS)
    return train_kind_gates(vectors, prior, device=device, seed=seed, after_step=lambda: advance(1))


def _entity_sample(
    raw: RawText,
    corpus: TrainingCorpus,
    vectors: NDArray[np.float16] | Vectors,
    fitted: FittedSelectors,
    gates: KindGates | None,
    encoder: Encoder,
) -> EntitySample:
    """Return a sample of the entities that the fitted selectors find in the training text."""
    chosen = fitted.selectors[fitted.entity]
    opened = open_probabilities(chosen.selector, corpus.vectors, encoder.device).numpy()
    decoder = WordDecoder(chosen.signal_weights, raw.not_names, chosen.span_model)
    links = None
    if fitted.link_gate is not None:
        links = links_of(fitted.link_gate, corpus.vectors, encoder.device)
    of_kinds = None if gates is None else kind_scores(gates, vectors).max(axis=1)
    gate_scores = corpus.units.max_per_word(opened)
    found = [
        [each for each in candidates if each.score >= chosen.threshold]
        for candidates in decoder.candidates(
            raw.sentences, gate_scores, raw.signals, links, of_kinds
        )
    ]
    units = UnitIndex.of_words(raw.sentences)
    return collect_sample(raw.sentences, found, vectors, units)


def _word_vectors(corpus: TrainingCorpus, width: int) -> NDArray[np.float16] | Vectors:
    """Return the vectors of words without attention features: (words, width)."""
    vectors = corpus.vectors[:, :width]
    if len(corpus.units.word) == corpus.units.words:
        return vectors
    return corpus.units.mean_per_word(np.asarray(vectors, dtype=np.float32))
