"""What the sparse kernels weigh against each other: how rows are treated, and how much is held."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """Sizes and shares; the defaults were measured on an H200 (docs/kernel.md).

    columns: of the vocabulary, taken at a time: a power of two from 4 to 4096
    rows: of which logits are made at a time
    recorded_share: entries the record has room for, as a share of all logits
    full_share: rows with a greater share of survivors are not recorded but computed again
    full_slack: survivors by which a row may exceed that share before it is given up
    light_share: rows with at most this share are gathered, the others multiplied
    dense_multiple: the number of rows that are multiplied is rounded up to this
    most_dense: with a greater share of full rows all are taken for full; the gradient of a chunk of
    logits never has more than this share of positions × columns elements
    remade_elements: logits of full rows made again at a time
    """

    columns: int = 4096
    rows: int = 8192
    recorded_share: float = 1 / 128
    full_share: float = 1 / 20
    full_slack: float = 1 / 128
    light_share: float = 1 / 90
    dense_multiple: int = 128
    most_dense: float = 1 / 2
    remade_elements: int = 2**22

    def chunks(self, vocabulary: int) -> list[slice]:
        """The vocabulary in order, `columns` at a time."""
        return spans(vocabulary, self.columns)

    def row_limit(self, seen: int, vocabulary: int) -> int:
        """Survivors among the `seen` first columns with which a row is still recorded."""
        return int(self.full_share * seen + self.full_slack * vocabulary)


def spans(size: int, step: int) -> list[slice]:
    """0 … size in order, `step` at a time."""
    return [slice(i, min(i + step, size)) for i in range(0, size, step)]
