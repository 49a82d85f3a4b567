"""Discovered kinds against gold kinds, next to k-means on vectors of the last layer."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor

from benchmarks.encoder import default_encoder
from benchmarks.kinds.data import TypedSet
from thresher.encoders.device_transfer import to_cpu
from thresher.encoders.protocol import Encoder, word_vectors
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.decoding import Candidate
from thresher.entities.kinds.clustering import k_means
from thresher.entities.kinds.discovery import group_names
from thresher.entities.kinds.entity_sample import EntitySample
from thresher.entities.kinds.examples import folded_name
from thresher.entities.kinds.span_vectors import Vectors, span_bounds, span_vectors
from thresher.gates.word_vectors import encode_words
from thresher.text.word_joining import join_words

_SENTENCES = 256


def v_measure(gold: Sequence[str], groups: Sequence[int]) -> float:
    """Return the harmonic mean of homogeneity and completeness."""
    table = _contingency(gold, groups)
    joint = table / table.sum()
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    outer = np.outer(rows, columns)
    shared = (joint[joint > 0] * np.log(joint[joint > 0] / outer[joint > 0])).sum()
    entropies = [-(p[p > 0] * np.log(p[p > 0])).sum() for p in (rows, columns)]
    homogeneity, completeness = (shared / h if h > 0 else 1.0 for h in entropies)
    total = homogeneity + completeness
    return float(2 * homogeneity * completeness / total) if total else 0.0


def purity(gold: Sequence[str], groups: Sequence[int]) -> float:
    """Return the fraction of spans whose group has their gold kind as its most frequent one."""
    table = _contingency(gold, groups)
    return float(table.max(axis=0).sum() / table.sum())


def figures(
    finder: EntityFinder, data: TypedSet, seeds: Sequence[int]
) -> list[dict[str, dict[str, float]]]:
    """Return V-measure and purity of groups of the gold spans for each seed.

    The groups are those of `thresher kinds`, and as many by k-means on vectors of the last layer of
    the default encoder, whose third layer the built-in model imitates.
    """
    gold = [label for labels in data.labels for label in labels]
    lowered = data.lowered().sentences
    candidates = [[Candidate(start, end, 1.0) for start, end in spans] for spans in data.spans]
    names = tuple(
        tuple(words[each.start : each.end])
        for words, found in zip(lowered, candidates, strict=True)
        for each in found
    )
    encoder = finder.encoder
    sample = EntitySample(names, _span_vectors(partial(encode_words, encoder), lowered, candidates))
    last_layer = _span_vectors(partial(_encode_last_layer, default_encoder()), lowered, candidates)
    results = []
    for seed in seeds:
        grouped = group_names(encoder, sample, seed=seed)
        number = dict(zip(map(_folded, grouped.names), grouped.labels, strict=True))
        ours = [int(number[_folded(name)]) for name in names]
        top = k_means(last_layer, len(set(ours)), seed=seed).labels.tolist()
        results.append(
            {
                row: {
                    "v_measure": v_measure(gold, g),
                    "purity": purity(gold, g),
                    "groups": len(set(g)),
                }
                for row, g in (("discovered", ours), ("last layer", top))
            }
        )
    return results


def _folded(words: Sequence[str]) -> str:
    """Return what is equal for names that `group_names` takes as one."""
    return folded_name(join_words(words))


def _span_vectors(
    encode: Callable[[list[list[str]]], Tensor],
    sentences: list[list[str]],
    spans: list[list[Candidate]],
) -> Vectors:
    """Return the vectors of all spans: (spans, width).

    encode: from sentences to the vectors of their words, (words, width)
    """
    parts = []
    for low in range(0, len(sentences), _SENTENCES):
        group, own = sentences[low : low + _SENTENCES], spans[low : low + _SENTENCES]
        if any(own):
            vectors = to_cpu(encode(group)).numpy()
            parts.append(span_vectors(vectors, *span_bounds(group, own)))
    return np.concatenate(parts)


@torch.inference_mode()
def _encode_last_layer(encoder: Encoder, sentences: list[list[str]]) -> Tensor:
    batch = encoder.batch(sentences)
    return word_vectors(encoder.encode_gated(batch), batch)


def _contingency(gold: Sequence[str], groups: Sequence[int]) -> np.ndarray:
    labels, row = np.unique(gold, return_inverse=True)
    numbers, column = np.unique(groups, return_inverse=True)
    table = np.zeros((len(labels), len(numbers)))
    np.add.at(table, (row, column), 1)
    return table
