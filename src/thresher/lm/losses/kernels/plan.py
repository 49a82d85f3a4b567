"""What the sparse kernels weigh against each other: how rows are treated, and how much is held."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """Sizes and shares; the defaults were measured on an H200 (docs/kernel.md).

    columns: of the vocabulary, recorded together: a power of two from 4 to 4096
    logits_elements: logits that are alive at once in the forward pass
    recorded_share: entries the record has room for, as a share of all logits
    light_share: rows with at most this share of survivors are gathered, the others multiplied
    dense_multiple: the number of rows that are multiplied is rounded up to this
    most_full: with a greater share of rows that were not recorded none is taken from the record
    gradient_elements: of the gradient of the logits of dense rows, alive at once
    remade_elements: logits of rows that were not recorded, made again at a time
    """

    columns: int = 4096
    logits_elements: int = 2**26
    recorded_share: float = 1 / 125
    light_share: float = 1 / 90
    dense_multiple: int = 128
    most_full: float = 1 / 2
    gradient_elements: int = 2**25
    remade_elements: int = 2**23

    def chunks(self, vocabulary: int) -> int:
        """How many times `columns` it takes."""
        return -(-vocabulary // self.columns)

    def rows(self, positions: int) -> int:
        """Of which logits are made at a time."""
        return min(positions, max(1, self.logits_elements // self.columns))

    def width(self, rows: int, elements: int, vocabulary: int) -> int:
        """Columns in whole chunks, at least one, of which so many rows have so many elements."""
        fitting = max(1, elements // max(1, rows) // self.columns)
        return self.columns * min(fitting, self.chunks(vocabulary))


def spans(size: int, step: int) -> list[slice]:
    """0 … size in order, `step` at a time."""
    return [slice(i, min(i + step, size)) for i in range(0, size, step)]
