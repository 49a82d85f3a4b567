"""Discover kinds: group the entities of a corpus, and name the groups.

A group gets the name of the category noun (`category_nouns.txt`) that is nearest to its typical
names. Names and nouns are encoded without context with the last layer of the encoder, whose mean
vectors represent what a text is about. An encoder whose vocabulary lacks most of these English
nouns cannot compare them; a group is then named after its most typical name.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

import numpy as np
import torch

from thresher.encoders.protocol import Encoder, sentence_vectors
from thresher.entities.kinds.clustering import (
    Labels,
    best_number_of_groups,
    k_means,
    principal_components,
)
from thresher.entities.kinds.entity_sample import EntitySample
from thresher.entities.kinds.examples import KindExamples, folded_name
from thresher.entities.kinds.span_vectors import Vectors, unit_length
from thresher.entities.kinds.training import name_vectors
from thresher.errors import InputError
from thresher.text.word_joining import join_words
from thresher.validation import require_number

NAMES_PER_KIND = 20
MIN_NAMES = 30  # different names; with fewer there is nothing to group
_MIN_GROUP = 3  # names; smaller groups are left out
_NUMBERS_OF_GROUPS = range(3, 13)
_DIMENSIONS = 8  # with more, the silhouettes of all numbers of groups are alike
_MIN_KNOWN = 0.5  # the fraction of nouns that must be in the vocabulary of the encoder


@dataclass(frozen=True)
class DiscoveredKinds:
    """The different names of a corpus, grouped by k-means.

    kinds: the name of each group   names: the different names, split into words
    labels: (names,), the group of each name, −1 for none   points: (names, 2), a map of the names
    distances: (names,), from the centre of the group
    """

    kinds: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    labels: Labels
    points: Vectors
    distances: Vectors

    def typical_indices(self, kind: int, count: int = NAMES_PER_KIND) -> list[int]:
        """Return the indices of the names nearest to the centre of a group, the nearest first."""
        own = np.flatnonzero(self.labels == kind)
        order: list[int] = own[np.argsort(self.distances[own], kind="stable")][:count].tolist()
        return order

    def typical_names(self, kind: int, count: int = NAMES_PER_KIND) -> list[str]:
        """Return the names nearest to the centre of a group, the nearest first."""
        return [join_words(self.names[i]) for i in self.typical_indices(kind, count)]

    def examples(self) -> KindExamples:
        """Return the most typical names of each kind as examples, to edit and to find with."""
        return KindExamples(
            {kind: tuple(self.typical_names(number)) for number, kind in enumerate(self.kinds)}
        )


def discover_kinds(
    encoder: Encoder, sample: EntitySample, *, groups: int | None = None
) -> DiscoveredKinds:
    """Group the different names of a sample of entities, and name the groups.

    groups: their number; by default the one whose groups are best separated
    """
    found = group_names(encoder, sample, groups=groups)
    typical_names = [
        [found.names[i] for i in found.typical_indices(kind)] for kind in range(len(found.kinds))
    ]
    kinds = name_groups(encoder, typical_names)
    return replace(found, kinds=tuple(kinds))


def group_names(
    encoder: Encoder, sample: EntitySample, *, groups: int | None = None, seed: int = 0
) -> DiscoveredKinds:
    """Group the different names of a sample of entities; groups are numbered, the largest first."""
    names, points = _name_points(encoder, sample)
    if len(names) < MIN_NAMES:
        raise InputError(
            f"only {len(names)} different entities were found; {MIN_NAMES} are needed to discover "
            "kinds"
        )
    if groups is not None:
        require_number("groups", groups, at_least=2, at_most=len(names) // _MIN_GROUP)
    choices = [k for k in _NUMBERS_OF_GROUPS if k * _MIN_GROUP * 2 <= len(names)]
    number = groups or best_number_of_groups(points, choices, seed=seed)
    clustering = k_means(points, number, seed=seed)
    distances = np.linalg.norm(points - clustering.centres[clustering.labels], axis=1)
    sizes = np.bincount(clustering.labels)
    kept = [k for k in np.argsort(-sizes, kind="stable").tolist() if sizes[k] >= _MIN_GROUP]
    new_number = {group: new for new, group in enumerate(kept)}
    labels = np.array([new_number.get(label, -1) for label in clustering.labels.tolist()])
    kinds = tuple(map(str, range(len(kept))))
    return DiscoveredKinds(kinds, names, labels, points[:, :2], distances.astype(np.float32))


def _name_points(
    encoder: Encoder, sample: EntitySample
) -> tuple[tuple[tuple[str, ...], ...], Vectors]:
    """Return the different names, and a point for each: its mean context and the name by itself."""
    occurrences: dict[str, list[int]] = defaultdict(list)
    for index, words in enumerate(sample.names):
        occurrences[folded_name(join_words(words))].append(index)
    names = tuple(sample.names[each[0]] for each in occurrences.values())
    if len(names) < 2:
        return names, np.zeros((len(names), 2), dtype=np.float32)
    contexts = np.stack([sample.contexts[each].mean(axis=0) for each in occurrences.values()])
    vectors = np.hstack([unit_length(contexts), name_vectors(encoder, names)])
    return names, principal_components(vectors, min(_DIMENSIONS, len(names) - 1))


def name_groups(encoder: Encoder, groups: Sequence[Sequence[Sequence[str]]]) -> list[str]:
    """Return a different name for each group.

    groups: the typical names of each group, split into words, the most typical first
    """
    nouns = category_nouns()
    known = sum(noun in encoder.common_words for noun in nouns)
    if known < _MIN_KNOWN * len(nouns):
        return _distinct([name_like(group[0]) for group in groups])
    noun_vectors = _encode(encoder, [[noun] for noun in nouns])
    means = unit_length(np.stack([_encode(encoder, group).mean(axis=0) for group in groups]))
    similarity = means @ noun_vectors.T
    # A noun that is near to every group says nothing about one of them.
    distinctive = similarity - 0.5 * similarity.mean(axis=0)
    names = [""] * len(groups)  # there are more nouns than groups
    for flat in np.argsort(-distinctive, axis=None, kind="stable").tolist():
        group, noun = divmod(flat, len(nouns))
        if not names[group] and nouns[noun] not in names:
            names[group] = nouns[noun]
    return _distinct(
        [name or name_like(group[0]) for name, group in zip(names, groups, strict=True)]
    )


def category_nouns() -> list[str]:
    """Return the nouns that can be names of groups."""
    content = files("thresher.entities.kinds") / "category_nouns.txt"
    return content.read_text(encoding="utf-8").split()


def _encode(encoder: Encoder, names: Sequence[Sequence[str]]) -> Vectors:
    with torch.inference_mode():
        batch = encoder.batch(names)
        vectors = sentence_vectors(encoder.encode_gated(batch), batch)
    return unit_length(vectors.float().cpu().numpy())


def name_like(words: Sequence[str]) -> str:
    """Return a name for a group of entities like this one, which kinds can have."""
    joined = "".join(each for each in join_words(words) if each.isprintable() or each.isspace())
    return "like-" + re.sub(r"[\s,]+", "-", joined)


def _distinct(names: Sequence[str]) -> list[str]:
    """Return the names; the second and further groups of the same name get a number."""
    result: list[str] = []
    for name in names:
        number = sum(other == name for other in names[: len(result)])
        result.append(f"{name}-{number + 1}" if number else name)
    return result
