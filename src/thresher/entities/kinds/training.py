"""Learn kinds by softmax regression: from example names, or from the kinds of a teacher.

An entity of none of the given kinds must not be forced into one of them. So the classifier also
learns *background kinds*: those built-in English kinds that differ from all given ones. An entity
of a background kind has no kind. A background kind has as many names as the given kinds, so that it
does not win only because its list is longer; but at least six, since two or three names say little.
"""

from collections.abc import Sequence

import numpy as np

from thresher.encoders.device_transfer import to_cpu
from thresher.encoders.protocol import Encoder
from thresher.entities.kinds.classifier import KindClassifier
from thresher.entities.kinds.entity_sample import EntitySample
from thresher.entities.kinds.examples import KindExamples, folded_name, name_words
from thresher.entities.kinds.softmax_regression import fit_softmax_regression
from thresher.entities.kinds.span_vectors import Vectors, span_vectors, unit_length
from thresher.gates.batching import sentence_starts
from thresher.gates.word_vectors import encode_words

_PENALTY, _STUDENT_PENALTY = 1e-4, 1e-5  # of the squared weights
_BACKGROUND_LOG_ODDS = -1.0  # of a background kind: users list the kinds that their texts have
_MIN_BACKGROUND = 6  # names of a background kind
_MAX_SIMILARITY = 0.8  # of a background kind to a given kind: the cosine between their means
_NAMES_PER_BATCH = 1024


def learn_kinds(examples: KindExamples, sample: EntitySample, encoder: Encoder) -> KindClassifier:
    """Learn a classifier of kinds from example names.

    Its training examples are the names by themselves, and their occurrences in the sample. All
    kinds have the same weight, however many names they have.
    """
    groups = list(examples.names.values())
    own = [_vectors(encoder, names) for names in groups]
    mean = (sample.contexts if len(sample) else np.concatenate(own)).mean(axis=0)
    background = _background_kinds(examples, own, mean, encoder)
    kind_of_name = examples.listed()
    known = np.array(
        [kind_of_name.get(tuple(map(str.casefold, words)), -1) for words in sample.names], int
    )
    counts = [len(each) for each in (*own, *background)]
    labels = np.concatenate([np.repeat(np.arange(len(counts)), counts), known[known >= 0]])
    vectors = np.vstack([*own, *background, sample.contexts[known >= 0]]) - mean
    weight, bias = fit_softmax_regression(
        vectors,
        np.eye(len(counts), dtype=np.float32)[labels],
        (1 / np.bincount(labels)[labels]).astype(np.float32),
        penalty=_PENALTY,
    )
    shift = np.where(np.arange(len(counts)) < len(groups), 0.0, _BACKGROUND_LOG_ODDS)
    return KindClassifier(examples.kinds, weight, (bias + shift).astype(np.float32), mean)


def _background_kinds(
    examples: KindExamples, own: Sequence[Vectors], mean: Vectors, encoder: Encoder
) -> list[Vectors]:
    """Return the vectors of the names of each built-in kind that differs from all given kinds.

    An encoder that was trained on raw text of any language does not know these English names.
    """
    if not encoder.common_words:
        return []
    given = {folded_name(name) for names in examples.names.values() for name in names}
    count = max(round(float(np.median([len(names) for names in own]))), _MIN_BACKGROUND)
    centres = unit_length(np.stack([each.mean(axis=0) - mean for each in own]))
    background = []
    for names in KindExamples.english().names.values():
        if given.isdisjoint(map(folded_name, names)):
            vectors = _vectors(encoder, names)
            centre = unit_length((vectors.mean(axis=0) - mean)[None])[0]
            if (centres @ centre).max() < _MAX_SIMILARITY:
                background.append(vectors[:count])
    return background


def _vectors(encoder: Encoder, names: Sequence[str]) -> Vectors:
    return name_vectors(encoder, [name_words(name) for name in names])


def distill_kinds(
    teacher: KindClassifier, teacher_vectors: Vectors, student_vectors: Vectors
) -> KindClassifier:
    """Return a classifier that predicts the teacher's probabilities from the student's vectors.

    teacher_vectors, student_vectors: (spans, width) each, of the same spans
    """
    mean = student_vectors.mean(axis=0)
    weight, bias = fit_softmax_regression(
        student_vectors - mean,
        np.exp(teacher.log_probabilities(teacher_vectors)),
        np.ones(len(student_vectors), dtype=np.float32),
        penalty=_STUDENT_PENALTY,
    )
    return KindClassifier(teacher.kinds, weight, bias, mean)


def name_vectors(encoder: Encoder, names: Sequence[Sequence[str]]) -> Vectors:
    """Return the vectors of names without any text around them: (names, width).

    names: split into words
    """
    parts = [np.zeros((0, encoder.width), dtype=np.float32)]
    for low in range(0, len(names), _NAMES_PER_BATCH):
        group = names[low : low + _NAMES_PER_BATCH]
        vectors = to_cpu(encode_words(encoder, group)).float().numpy()
        starts = sentence_starts(group)
        parts.append(span_vectors(vectors, starts[:-1], starts[1:]))
    return np.concatenate(parts)
