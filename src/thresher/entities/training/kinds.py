"""What training adds to a model about kinds: gates of kinds, and a sample of its entities."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from thresher.encoders.protocol import Encoder
from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.signal_weights import Scores
from thresher.entities.finding.signals import Flags
from thresher.entities.finding.word_decoding import WordDecoder
from thresher.entities.kinds.assignment import finding_scores
from thresher.entities.kinds.entity_sample import collect_sample
from thresher.entities.kinds.example_prior import (
    NO_KIND,
    PriorSettings,
    example_prior,
    kinds_of_words,
)
from thresher.entities.kinds.examples import KindExamples
from thresher.entities.kinds.gates import STEPS, KindGates, kind_scores, train_kind_gates
from thresher.entities.kinds.kind_model import KindModel
from thresher.entities.kinds.span_vectors import Vectors, words_of_spans
from thresher.entities.selectors import FittedSelectors
from thresher.entities.training.boundaries import links_of
from thresher.entities.training.loop import TrainingCorpus
from thresher.entities.training.raw_text import RawText
from thresher.gates.selector import open_probabilities
from thresher.gates.word_vectors import UnitIndex
from thresher.progress import ProgressReporter

_MIN_OCCURRENCES = 3  # of the names of a kind; with fewer, a warning is given
_MIN_TO_FIND = 10  # words of example names of a kind whose gate finds entities
_MOSTLY_FOUND = 0.7  # of these words, if the general gate finds such entities well
_OTHERS_PER_EXAMPLE = 3  # words that belong to the given kinds, for each word of an example
_MIN_RATE = 0.01  # of words that belong to the given kinds


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
    found, gates = _found(raw, corpus, fitted, encoder), None
    if examples is not None:
        gates = fit_gates(
            raw.sentences,
            vectors,
            raw.signals.possible,
            words_of_spans(raw.sentences, found),
            examples,
            device=encoder.device,
            seed=seed,
            progress=progress,
        )
        of_kinds = finding_scores(kind_scores(gates, vectors), gates.finding)
        found = _found(raw, corpus, fitted, encoder, of_kinds)
    units = UnitIndex.of_words(raw.sentences)
    return KindModel(collect_sample(raw.sentences, found, vectors, units), gates=gates)


def fit_gates(
    sentences: Sequence[Sequence[str]],
    vectors: NDArray[np.float16] | Vectors,
    possible: Flags,
    found: Flags,
    examples: KindExamples,
    *,
    device: torch.device,
    seed: int,
    progress: ProgressReporter,
) -> KindGates:
    """Train a gate for each kind on sentences in which example names occur.

    The gates of kinds whose examples are often missed find entities; the others are only evidence
    for the kind. At most as many words become examples by self-training as are found in entities,
    and at most three for each word of an example name.

    vectors: (words, width)   possible: (words,), whether a word can be part of an entity
    found: (words,), whether a word is part of an entity that is found without kind gates
    """
    kinds, count = kinds_of_words(sentences, examples), len(examples.kinds)
    occurrences = np.bincount(kinds[kinds != NO_KIND], minlength=count)
    for kind, number in zip(examples.kinds, occurrences.tolist(), strict=True):
        if number < _MIN_OCCURRENCES:
            progress.note(f"names of the kind {kind} occur {number} times; give names of this text")
    of_found = np.bincount(kinds[(kinds != NO_KIND) & found], minlength=count)
    missed = (occurrences >= _MIN_TO_FIND) & (of_found < _MOSTLY_FOUND * occurrences)
    rate = min(float(found.mean()), _OTHERS_PER_EXAMPLE * float(occurrences.sum()) / len(found))
    settings = PriorSettings(rate=max(rate, _MIN_RATE))
    prior = example_prior(vectors, kinds, possible, count=count, settings=settings, seed=seed)
    advance = progress.stage("kind gates", STEPS)
    gates = train_kind_gates(
        vectors, prior, device=device, seed=seed, after_step=lambda: advance(1)
    )
    return replace(gates, finding=tuple(missed.tolist()))


def _found(
    raw: RawText,
    corpus: TrainingCorpus,
    fitted: FittedSelectors,
    encoder: Encoder,
    of_kinds: Scores | None = None,
) -> list[list[Candidate]]:
    """Return the entities that the fitted selectors find in each sentence of the training text.

    of_kinds: (words,), the scores of kind gates that find entities
    """
    chosen = fitted.selectors[fitted.entity]
    opened = open_probabilities(chosen.selector, corpus.vectors, encoder.device).numpy()
    decoder = WordDecoder(chosen.signal_weights, raw.not_names, chosen.span_model)
    links = None
    if fitted.link_gate is not None:
        links = links_of(fitted.link_gate, corpus.vectors, encoder.device)
    decoded = decoder.candidates(
        raw.sentences, corpus.units.max_per_word(opened), raw.signals, links, of_kinds
    )
    return [[each for each in found if each.score >= chosen.threshold] for found in decoded]


def _word_vectors(corpus: TrainingCorpus, width: int) -> NDArray[np.float16] | Vectors:
    """Return the vectors of words without attention features: (words, width)."""
    vectors = corpus.vectors[:, :width]
    if len(corpus.units.word) == corpus.units.words:
        return vectors
    return corpus.units.mean_per_word(np.asarray(vectors, dtype=np.float32))
