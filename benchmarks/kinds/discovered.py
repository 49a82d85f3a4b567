"""Discovered kinds against gold kinds, next to k-means on vectors of the last layer."""

from collections.abc import Sequence

import numpy as np
import torch

from benchmarks.kinds.data import TypedSet
from thresher.encoders.protocol import Encoder, word_vectors
from thresher.entities.finder import EntityFinder
from thresher.entities.finding.decoding import Candidate
from thresher.entities.kinds.clustering import k_means
from thresher.entities.kinds.discovery import group_names
from thresher.entities.kinds.entity_sample import EntitySample
from thresher.entities.kinds.span_vectors import Vectors, span_bounds, span_vectors
from thresher.gates.word_vectors import encode_words

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


def figures(finder: EntityFinder, data: TypedSet, seed: int) -> dict[str, dict[str, float]]:
    """Return V-measure and purity of groups of the gold spans: ours, and of the last layer."""
    gold = [label for labels in data.labels for label in labels]
    lowered = data.lowered().sentences
    candidates = [[Candidate(start, end, 1.0) for start, end in spans] for spans in data.spans]
    contexts = _span_vectors(finder, lowered, candidates)
    names = tuple(
        tuple(words[each.start : each.end])
        for words, found in zip(lowered, candidates, strict=True)
        for each in found
    )
    grouped = group_names(finder.encoder, EntitySample(names, contexts), seed=seed)
    number = dict(zip(grouped.names, grouped.labels, strict=True))
    ours = [int(number[name]) for name in names]
    top = k_means(_last_layer(finder.encoder, lowered, candidates), len(set(ours)), seed=seed)
    return {
        row: {"v_measure": v_measure(gold, g), "purity": purity(gold, g), "groups": len(set(g))}
        for row, g in (("discovered", ours), ("last layer", top.labels.tolist()))
    }


def _span_vectors(
    finder: EntityFinder, sentences: list[list[str]], spans: list[list[Candidate]]
) -> Vectors:
    parts = []
    for low in range(0, len(sentences), _SENTENCES):
        group, own = sentences[low : low + _SENTENCES], spans[low : low + _SENTENCES]
        if any(own):
            vectors = encode_words(finder.encoder, group).numpy()
            parts.append(span_vectors(vectors, *span_bounds(group, own)))
    return np.concatenate(parts)


def _last_layer(
    encoder: Encoder, sentences: list[list[str]], spans: list[list[Candidate]]
) -> Vectors:
    parts = []
    for low in range(0, len(sentences), _SENTENCES):
        group, own = sentences[low : low + _SENTENCES], spans[low : low + _SENTENCES]
        if any(own):
            with torch.inference_mode():
                batch = encoder.batch(group)
                vectors = word_vectors(encoder.encode_gated(batch), batch).numpy()
            parts.append(span_vectors(vectors, *span_bounds(group, own)))
    return np.concatenate(parts)


def _contingency(gold: Sequence[str], groups: Sequence[int]) -> np.ndarray:
    labels, row = np.unique(gold, return_inverse=True)
    numbers, column = np.unique(groups, return_inverse=True)
    table = np.zeros((len(labels), len(numbers)))
    np.add.at(table, (row, column), 1)
    return table
