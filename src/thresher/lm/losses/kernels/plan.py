"""Sizes and thresholds of the Triton implementation: how rows are processed, how much is held."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """The sizes; the defaults are the fastest on an H200 (docs/kernel.md).

    columns: the width of a chunk of the vocabulary, a power of two from 4 to 4096
    logits_elements: logits in memory at once in the forward pass
    recorded_fraction: how many survivors the record can hold, as a fraction of all logits
    light_fraction: rows in which at most this fraction of tokens survives are gathered, the others
    multiplied
    dense_multiple: the number of rows that are multiplied is rounded up to a multiple of this
    max_full_fraction: if a larger fraction of rows was not recorded, the record is not used at all
    gradient_elements: elements of the gradient of dense rows' logits in memory at once
    recomputed_elements: logits of rows that were not recorded, computed at once
    """

    columns: int = 4096
    logits_elements: int = 2**26
    recorded_fraction: float = 1 / 125
    light_fraction: float = 1 / 90
    dense_multiple: int = 128
    max_full_fraction: float = 1 / 2
    gradient_elements: int = 2**25
    recomputed_elements: int = 2**23

    def chunks(self, vocabulary: int) -> int:
        """Return the number of chunks of a vocabulary."""
        return -(-vocabulary // self.columns)

    def rows(self, positions: int) -> int:
        """Return for how many rows logits are computed at once."""
        return min(positions, max(1, self.logits_elements // self.columns))

    def width(self, rows: int, elements: int, vocabulary: int) -> int:
        """Return how many columns, in whole chunks, give `rows` rows about `elements` elements."""
        fitting = max(1, elements // max(1, rows) // self.columns)
        return self.columns * min(fitting, self.chunks(vocabulary))


def slices(size: int, step: int) -> list[slice]:
    """Split range(size) into slices of length `step`."""
    return [slice(i, min(i + step, size)) for i in range(0, size, step)]
