"""The prior of kind gates: the probability that a word belongs to an entity of each kind.

It is learned from the example names alone, by softmax regression on word vectors. Occurrences of
the names in raw text are positive examples. All other words are unlabelled: they are examples of
"no kind" with a small weight. The regression is then repeated in rounds of self-training, in which
the most probable words, as many as the finder finds without the examples, are positive, too.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.entities.kinds.classifier import log_softmax
from thresher.entities.kinds.examples import KindExamples, name_words
from thresher.entities.kinds.softmax_regression import fit_softmax_regression
from thresher.entities.kinds.span_vectors import Vectors, unit_length

NO_KIND = -1
_MAX_WORDS = 100_000  # unlabelled words from which the prior is learned; of more, a random part

Kinds = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class PriorSettings:
    """How the prior is learned.

    rate: the fraction of words that are positive in self-training
    rounds: of self-training   unlabelled: the weight of a word that may be positive or not
    penalty: the factor of the squared weights
    """

    rate: float = 0.08
    rounds: int = 4
    unlabelled: float = 0.2
    penalty: float = 1e-5


def kinds_of_words(sentences: Sequence[Sequence[str]], examples: KindExamples) -> Kinds:
    """Return the kind of each word that is part of an example name: (words,), −1 for the others.

    Where several names begin at a word, the longest counts.
    """
    by_first_word: dict[str, list[tuple[tuple[str, ...], int]]] = defaultdict(list)
    for kind, names in enumerate(examples.names.values()):
        for name in names:
            folded = tuple(word.casefold() for word in name_words(name))
            by_first_word[folded[0]].append((folded, kind))
    for same_start in by_first_word.values():
        same_start.sort(key=lambda each: -len(each[0]))
    kinds: list[int] = []
    for words in sentences:
        kinds += _kinds_in_sentence([word.casefold() for word in words], by_first_word)
    return np.array(kinds, dtype=np.int64)


def _kinds_in_sentence(
    words: list[str], by_first_word: dict[str, list[tuple[tuple[str, ...], int]]]
) -> list[int]:
    kinds = [NO_KIND] * len(words)
    start = 0
    while start < len(words):
        for name, kind in by_first_word.get(words[start], ()):
            if tuple(words[start : start + len(name)]) == name:
                kinds[start : start + len(name)] = [kind] * len(name)
                start += len(name) - 1
                break
        start += 1
    return kinds


def example_prior(
    vectors: NDArray[np.float16] | Vectors,
    kinds: Kinds,
    possible: Flags,
    *,
    count: int,
    settings: PriorSettings | None = None,
    seed: int = 0,
) -> Vectors:
    """Return the probability that each word belongs to an entity of each kind: (words, kinds).

    vectors: (words, width)   kinds: (words,), of example names, −1 for the others
    possible: (words,), whether a word can be part of an entity   count: of kinds
    """
    settings = settings or PriorSettings()
    chosen = _some_words(kinds, seed)
    points = unit_length(np.asarray(vectors[chosen], dtype=np.float32))
    mean = points.mean(axis=0)
    weight, bias = _self_train(points - mean, kinds[chosen], possible[chosen], count, settings)
    prior = np.zeros((len(kinds), count), dtype=np.float32)
    for low in range(0, len(kinds), _MAX_WORDS):
        part = unit_length(np.asarray(vectors[low : low + _MAX_WORDS], dtype=np.float32)) - mean
        prior[low : low + _MAX_WORDS] = np.exp(log_softmax(part @ weight.T + bias))[:, :count]
    prior[~possible] = 0.0
    known = kinds != NO_KIND
    prior[known] = np.eye(count, dtype=np.float32)[kinds[known]]
    return prior


def _some_words(kinds: Kinds, seed: int) -> NDArray[np.int64]:
    """Return the indices of all words of example names, and of a part of the others."""
    known, others = np.flatnonzero(kinds != NO_KIND), np.flatnonzero(kinds == NO_KIND)
    if len(others) > _MAX_WORDS:
        others = np.random.default_rng(seed).choice(others, _MAX_WORDS, replace=False)
    return np.sort(np.concatenate([known, others]))


def _self_train(
    points: Vectors, kinds: Kinds, possible: Flags, count: int, settings: PriorSettings
) -> tuple[Vectors, Vectors]:
    """Return weights and bias of softmax regression with `count` kinds and one class for no kind.

    points: (words, width)
    """
    known = kinds != NO_KIND
    classes = np.eye(count + 1, dtype=np.float32)
    labels = np.where(known, kinds, count)
    counts = np.bincount(kinds[known], minlength=count).clip(1)
    weights = np.where(possible, settings.unlabelled, 1.0).astype(np.float32)
    weights[known] = np.sqrt(counts.mean() / counts)[kinds[known]]
    fitted = fit_softmax_regression(points, classes[labels], weights, penalty=settings.penalty)
    positives = max(1, int(settings.rate * len(points)))
    for _ in range(settings.rounds):
        probability = np.exp(log_softmax(points @ fitted[0].T + fitted[1]))
        of_any_kind = np.where(possible & ~known, 1 - probability[:, count], 0.0)
        ranked = np.argsort(-of_any_kind, kind="stable")
        labels = np.where(known, kinds, count)
        labels[ranked[:positives]] = probability[ranked[:positives], :count].argmax(axis=1)
        labels[known] = kinds[known]
        weights = np.ones(len(points), dtype=np.float32)
        weights[ranked[positives : 2 * positives]] = settings.unlabelled
        fitted = fit_softmax_regression(
            points, classes[labels], weights, penalty=settings.penalty, start=fitted
        )
    return fitted
