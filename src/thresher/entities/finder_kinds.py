"""Learn the kinds of a finder: from example names, or from the kinds of another finder."""

from dataclasses import replace

import numpy as np

from thresher.entities.finding.text_finder import SplitText
from thresher.entities.kinds.entity_sample import collect_sample, empty_sample
from thresher.entities.kinds.examples import KindExamples
from thresher.entities.kinds.gates import KindGates
from thresher.entities.kinds.kind_model import KindModel
from thresher.entities.kinds.span_vectors import span_bounds, span_vectors, words_of_spans
from thresher.entities.kinds.training import distill_kinds, learn_kinds
from thresher.entities.model_finder import SENTENCES_PER_GROUP, ModelFinder
from thresher.entities.training.kinds import fit_gates
from thresher.errors import InputError
from thresher.gates.word_vectors import UnitIndex
from thresher.progress import SilentProgress

_KIND_SENTENCES = 4000  # about how many sentences a student learns kinds from
_MAX_KIND_WORDS = 200_000  # about how many words kind gates are trained on; of more, a part


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
