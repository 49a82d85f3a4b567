"""A sample of the entities that a finder found in its training text, without labels.

Kinds are learned from example names and from this sample, which shows in which contexts such names
occur.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from thresher.array_files import Arrays, require_finite_arrays
from thresher.entities.finding.decoding import Candidate
from thresher.entities.kinds.span_vectors import Vectors, span_bounds, unit_length

if TYPE_CHECKING:
    from thresher.gates.word_vectors import UnitIndex

SAMPLE_SIZE = 1150  # so that the built-in model stays below 1 MB
MAX_PER_NAME = 4  # occurrences of the same name
_INT8_LEVELS = 127


@dataclass(frozen=True)
class EntitySample:
    """Entities with vectors of their contexts.

    names: the words of each entity   contexts: (entities, width), vectors of length 1
    """

    names: tuple[tuple[str, ...], ...]
    contexts: Vectors

    def __post_init__(self) -> None:
        if self.contexts.ndim != 2 or len(self.names) != len(self.contexts):
            raise ValueError(
                f"{len(self.names)} names do not fit contexts of the shape {self.contexts.shape}"
            )

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def merged(cls, samples: Sequence["EntitySample"]) -> "EntitySample":
        """Return a sample of the entities of several samples."""
        names = [name for each in samples for name in each.names]
        contexts = np.concatenate([each.contexts for each in samples])
        chosen = _sample_indices(names)
        return cls(tuple(names[index] for index in chosen), contexts[chosen])

    def to_arrays(self) -> Arrays:
        """Return the contexts in 8 bits, with a scale for each."""
        scale = np.abs(self.contexts).max(axis=1, initial=1e-6) / _INT8_LEVELS
        levels = np.round(self.contexts / scale[:, None]).astype(np.int8)
        return {"contexts": levels, "scale": scale.astype(np.float16)}

    @classmethod
    def from_arrays(
        cls, names: Sequence[Sequence[str]], arrays: Mapping[str, NDArray[Any]]
    ) -> "EntitySample":
        """Return the sample whose contexts `to_arrays` gave; ValueError for other arrays."""
        levels, scale = arrays["contexts"], arrays["scale"].astype(np.float32)
        # Checked before the product: shapes that differ could be broadcast to a huge matrix.
        if levels.dtype != np.int8 or levels.ndim != 2 or scale.shape != (len(levels),):
            raise ValueError(
                f"contexts of the shape {levels.shape} ({levels.dtype}) do not fit scales "
                f"of the shape {scale.shape}"
            )
        require_finite_arrays({"scale": scale}, "the sample of entities")
        contexts = levels.astype(np.float32) * scale[:, None]
        return cls(tuple(map(tuple, names)), contexts)


def empty_sample(width: int) -> EntitySample:
    """Return a sample without entities, of a model that was saved by an earlier version."""
    return EntitySample((), np.zeros((0, width), dtype=np.float32))


def collect_sample(
    sentences: Sequence[Sequence[str]],
    found: Sequence[Sequence[Candidate]],
    vectors: NDArray[np.float16] | Vectors,
    units: "UnitIndex",
) -> EntitySample:
    """Return a sample of the entities that were found in sentences.

    found: the entities of each sentence   vectors: (units, width), without attention features
    """
    names = [
        tuple(words[each.start : each.end])
        for words, own in zip(sentences, found, strict=True)
        for each in own
    ]
    if not names:
        return empty_sample(vectors.shape[1])
    starts, ends = span_bounds(sentences, found)
    chosen = _sample_indices(names)
    sums = [
        np.asarray(vectors[units.rows_of_words(start, end)], dtype=np.float32).sum(axis=0)
        for start, end in zip(starts[chosen], ends[chosen], strict=True)
    ]
    return EntitySample(tuple(names[index] for index in chosen), unit_length(np.stack(sums)))


def _sample_indices(names: Sequence[Sequence[str]]) -> list[int]:
    """Return the indices of at most `SAMPLE_SIZE` entities, few of them with the same name."""
    counts: Counter[str] = Counter()
    chosen: list[int] = []
    for index in np.random.default_rng(0).permutation(len(names)).tolist():
        key = " ".join(names[index]).casefold()
        if counts[key] < MAX_PER_NAME and len(chosen) < SAMPLE_SIZE:
            counts[key] += 1
            chosen.append(index)
    return sorted(chosen)
