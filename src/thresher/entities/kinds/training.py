"""Learn kinds from example names: softmax regression and self-training on a sample of entities."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.encoders.device_transfer import to_cpu
from thresher.encoders.protocol import Encoder
from thresher.entities.kinds.assignment import share_between_occurrences, surface_forms
from thresher.entities.kinds.classifier import (
    KindClassifier,
    fit_softmax_regression,
    log_softmax,
)
from thresher.entities.kinds.entity_sample import EntitySample
from thresher.entities.kinds.examples import KindExamples, folded_name, name_words
from thresher.entities.kinds.span_vectors import NameEmbedder, Vectors, context_vectors
from thresher.gates.batching import sentence_starts
from thresher.gates.word_vectors import encode_words


@dataclass(frozen=True, kw_only=True)
class KindSettings:
    """How kinds are learned from example names.

    penalty: of the squared weights
    rounds: of self-training   confidence: the smallest probability of an entity that is used in it
    balance: 0 weighs all entities of self-training alike, 1 gives all kinds the same weight
    """

    penalty: float = 1e-4
    rounds: int = 4
    confidence: float = 0.6
    balance: float = 0.5


def learn_kinds(
    examples: KindExamples,
    sample: EntitySample,
    encoder: Encoder,
    *,
    settings: KindSettings | None = None,
) -> KindClassifier:
    """Learn a classifier of kinds from example names.

    The names by themselves and their occurrences in the sample are the first examples. In each
    round of self-training, the classifier predicts the kinds of the whole sample, and the entities
    whose kind is certain become examples, too.
    """
    settings = settings or KindSettings()
    embedder = NameEmbedder(encoder)
    names = [name for each in examples.names.values() for name in each]
    kind_of_name = {
        folded_name(name): number
        for number, each in enumerate(examples.names.values())
        for name in each
    }
    bare = _vectors_of_names([name_words(name) for name in names], encoder, embedder)
    entities = np.hstack([sample.contexts, embedder.embed(sample.names)])
    mean = entities.mean(axis=0) if len(entities) else bare.mean(axis=0)
    entities, bare = entities - mean, bare - mean
    forms = surface_forms([sample.names])
    known = np.array([kind_of_name.get(" ".join(n).casefold(), -1) for n in sample.names], int)
    kinds = np.array([kind_of_name[folded_name(name)] for name in names])
    vectors = np.vstack([bare, entities[known >= 0]])
    labels = np.concatenate([kinds, known[known >= 0]])
    targets, weights = _one_hot(labels, len(examples.kinds)), _balanced(labels, 1.0)
    fitted = fit_softmax_regression(vectors, targets, weights, penalty=settings.penalty)
    for _ in range(settings.rounds if len(entities) else 0):
        log_probabilities = log_softmax(entities @ fitted[0].T + fitted[1])
        probability = np.exp(share_between_occurrences(log_probabilities, forms))
        certain = (probability.max(axis=1) > settings.confidence) & (known < 0)
        predicted = probability.argmax(axis=1)[certain]
        fitted = fit_softmax_regression(
            np.vstack([vectors, entities[certain]]),
            np.vstack([targets, _one_hot(predicted, len(examples.kinds))]),
            np.concatenate([weights, _balanced(predicted, settings.balance)]),
            penalty=settings.penalty,
            start=fitted,
        )
    return KindClassifier(examples.kinds, *fitted, mean.astype(np.float32))


def _vectors_of_names(
    names: Sequence[Sequence[str]], encoder: Encoder, embedder: NameEmbedder
) -> Vectors:
    """Return the vectors of names without any text around them: (names, 2 · width)."""
    vectors = to_cpu(encode_words(encoder, names)).float().numpy()
    starts = sentence_starts(names)
    contexts = context_vectors(vectors, starts[:-1], starts[1:])
    return np.hstack([contexts, embedder.embed(names)])


def _one_hot(labels: Sequence[int] | NDArray[np.int64], count: int) -> Vectors:
    return np.eye(count, dtype=np.float32)[labels]


def _balanced(labels: NDArray[np.int64], balance: float) -> Vectors:
    """Return weights (n̄ / n_kind)^balance, so that frequent kinds do not dominate: (examples,)."""
    counts = np.bincount(labels)
    mean = counts[counts > 0].mean() if len(labels) else 1.0
    return np.power(mean / counts[labels], balance).astype(np.float32)
