"""A linear classifier of kinds: softmax regression on the vectors of spans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.array_files import Arrays, require_finite_arrays
from thresher.entities.kinds.span_vectors import Vectors

LogProbabilities = NDArray[np.float32]


@dataclass(frozen=True)
class KindClassifier:
    """Predicts the kind of a span from its vector x: softmax(W (x − mean) + b).

    Rows of W after those of the kinds are background kinds, whose entities have no kind.

    kinds: the names of the kinds   weight: (rows, width)   bias: (rows,)   mean: (width,)
    """

    kinds: tuple[str, ...]
    weight: Vectors
    bias: Vectors
    mean: Vectors

    def __post_init__(self) -> None:
        count, width, rows = len(self.kinds), self.mean.size, self.bias.size
        shapes = (self.weight.shape, self.bias.shape, self.mean.shape)
        if shapes != ((rows, width), (rows,), (width,)) or rows < count:
            raise ValueError(
                f"{count} kinds and vectors of width {width} do not fit weights of the shape "
                f"{self.weight.shape} and a bias of the shape {self.bias.shape}"
            )

    def log_probabilities(self, vectors: Vectors) -> LogProbabilities:
        """Return the log-probabilities of kinds and background kinds: (spans, rows).

        vectors: (spans, width)
        """
        logits = vectors @ self.weight.T + (self.bias - self.weight @ self.mean)
        return log_softmax(logits)

    def to_arrays(self) -> Arrays:
        """Return the weights by name, in half precision."""
        values = {"weight": self.weight, "bias": self.bias, "mean": self.mean}
        return {name: value.astype(np.float16) for name, value in values.items()}

    @classmethod
    def from_arrays(
        cls, kinds: Sequence[str], arrays: Mapping[str, NDArray[Any]]
    ) -> "KindClassifier":
        """Return the classifier whose weights `to_arrays` gave."""
        names = ("weight", "bias", "mean")
        values = {name: arrays[name].astype(np.float32) for name in names}
        require_finite_arrays(values, "the weights of the kinds")
        return cls(tuple(kinds), **values)


def log_softmax(logits: Vectors) -> LogProbabilities:
    """Return the logarithm of the softmax over the last axis."""
    shifted = logits - logits.max(axis=1, keepdims=True, initial=-np.inf)
    result: LogProbabilities = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return result
