"""Learn the kinds of a finder: in training, from example names, or from another finder.

Kinds are learned with gates of their own, and with a sample of the entities of a text.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from thresher.encoders.protocol import Encoder
from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.signal_weights import Scores
from thresher.entities.finding.signals import Flags
from thresher.entities.finding.text_finder import SplitText
from thresher.entities.finding.word_decoding import WordDecoder
from thresher.entities.kinds.assignment import finding_scores
from thresher.entities.kinds.entity_sample import collect_sample, empty_sample
from thresher.entities.kinds.example_prior import (
    NO_KIND,
    PriorSettings,
    example_prior,
    kinds_of_words,
)
from thresher.entities.kinds.examples import KindExamples
from thresher.entities.kinds.gates import STEPS, KindGates, kind_scores, train_kind_gates
from thresher.entities.kinds.kind_model import KindModel
from thresher.entities.kinds.span_vectors import Vectors, span_bounds, span_vectors, words_of_spans
from thresher.entities.kinds.training import distill_kinds, learn_kinds
from thresher.entities.model import FinderModel
from thresher.entities.model_finder import SENTENCES_PER_GROUP, ModelFinder
from thresher.entities.training.boundaries import links_of
from thresher.entities.training.loop import TrainingCorpus
from thresher.entities.training.raw_text import RawText
from thresher.errors import InputError
from thresher.gates.selector import open_probabilities
from thresher.gates.word_vectors import UnitIndex
from thresher.progress import ProgressReporter, SilentProgress

_MIN_OCCURRENCES = 3  # of the names of a kind; with fewer, a warning is given
_MIN_TO_FIND = 10  # words of example names of a kind whose gate finds entities
_MOSTLY_FOUND = 0.7  # of these words, if the general gate finds such entities well
_OTHERS_PER_EXAMPLE = 3  # words that belong to the given kinds, for each word of an example
_MIN_RATE = 0.01  # of words that belong to the given kinds
_KIND_SENTENCES = 4000  # about how many sentences a student learns kinds from
_MAX_KIND_WORDS = 200_000  # about how many words kind gates are trained on; of more, a part


def fit_kinds(
    raw: RawText,
    corpus: TrainingCorpus,
    fitted: FinderModel,
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
    fitted: FinderModel,
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


def kinds_from_examples(
    finder: ModelFinder, examples: KindExamples, sentences: SplitText | None, *, seed: int
) -> KindModel:
    """Learn kinds from example names.

    sentences: raw text in which the names occur; each kind then gets a gate of its own, and the
        entities of this text are the sample
    """
    known = finder.model.kinds
    kinds = KindModel(known.sample if known else empty_sample(finder.encoder.width))
    if sentences is not None:
        kinds = replace(kinds, gates=_fit_gates(finder, examples, sentences, seed))
        with_gates = ModelFinder(finder.encoder, replace(finder.model, kinds=kinds))
        kinds = replace(kinds, sample=with_gates.entity_sample(sentences))
    classifier = learn_kinds(examples, kinds.sample, finder.encoder)
    return replace(kinds, classifier=classifier, listed=examples.listed())


def kinds_of_teacher(
    student: ModelFinder,
    teacher: ModelFinder,
    sentences: SplitText,
    *,
    finder: ModelFinder | None = None,
) -> KindModel:
    """Train a student on raw sentences to predict the kinds of its teacher.

    finder: finds the entities whose kinds are predicted, which are also the student's sample of
        entities; by default the teacher
    """
    finder = finder or teacher
    some = sentences[:: -(-len(sentences) // _KIND_SENTENCES) or 1]
    found = finder.found_in(some, finder.word_scorer.encode(some))
    vectors = student.word_scorer.encode(some).vectors
    sample = collect_sample(some, found, vectors, UnitIndex.of_words(some))
    classifier = teacher.model.kinds.classifier if teacher.model.kinds else None
    if classifier is None or not len(sample):
        return KindModel(sample)
    bounds = span_bounds(some, found)
    teacher_vectors = span_vectors(teacher.word_scorer.encode(some).vectors, *bounds)
    student_vectors = span_vectors(vectors, *bounds)
    return KindModel(
        sample,
        distill_kinds(classifier, teacher_vectors, student_vectors),
        listed=teacher.model.kinds.listed if teacher.model.kinds else {},
    )


def _fit_gates(
    finder: ModelFinder, examples: KindExamples, sentences: SplitText, seed: int
) -> KindGates:
    some = sentences[:: -(-sum(map(len, sentences)) // _MAX_KIND_WORDS) or 1]
    if not some:
        raise InputError("`texts` have no words; give texts in which the example names occur")
    without_kinds = ModelFinder(finder.encoder, finder.model.without_kinds())
    vectors, found = [], []
    for low in range(0, len(some), SENTENCES_PER_GROUP):
        group = some[low : low + SENTENCES_PER_GROUP]
        encoded = without_kinds.word_scorer.encode(group)
        vectors.append(encoded.vectors)
        found += without_kinds.found_in(group, encoded)
    return fit_gates(
        some,
        np.concatenate(vectors),
        finder.model.signal_extractor.extract(some).possible,
        words_of_spans(some, found),
        examples,
        device=finder.encoder.device,
        seed=seed,
        progress=SilentProgress(),
    )
