"""Sentences with the vectors of their units, from which gates are trained."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thresher.encoders.device_transfer import to_device
from thresher.gates.word_vectors import UnitIndex


@dataclass(frozen=True)
class EncodedCorpus:
    """Sentences that were encoded once, before training.

    vectors: (units, width), the input of selectors
    units: which words and sentences the units belong to
    """

    sentences: Sequence[Sequence[str]]
    vectors: NDArray[np.float16]
    units: UnitIndex

    def __post_init__(self) -> None:
        self.require_one_per_unit("vector", self.vectors)

    def require_one_per_unit(self, name: str, values: NDArray[Any]) -> None:
        """Raise ValueError unless there is one value for each unit."""
        units = int(self.units.starts[-1])
        if len(values) != units:
            raise ValueError(f"there must be one {name} per unit: {units} units, got {len(values)}")

    def words(self, indices: Sequence[int]) -> list[Sequence[str]]:
        """Return the words of some sentences."""
        return [self.sentences[i] for i in indices]

    def vectors_of(self, indices: Sequence[int], device: torch.device) -> Tensor:
        """Return the vectors of the units of some sentences: (units, width), float32."""
        return self.values_of(self.vectors, indices, device).float()

    def values_of(
        self, values: NDArray[Any], indices: Sequence[int], device: torch.device
    ) -> Tensor:
        """Return the values of the units of some sentences.

        values: (all units, …)   returns: (units, …)
        """
        return to_device(torch.from_numpy(values[self.units.rows(indices)]), device)
