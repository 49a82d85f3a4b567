"""Reduce one loss per position to a mean or sum, as torch's losses do."""

from torch import Tensor


def reduce_rows(rows: Tensor, reduction: str, counts: Tensor) -> Tensor:
    """Return the losses, their sum, or Σ rows / Σ counts (NaN if all are ignored, as in torch).

    rows: any shape, 0 at ignored positions   counts: the same shape, the weights of the mean
    returns: the shape of rows for "none", otherwise ()
    """
    if reduction == "none":
        return rows
    if reduction == "sum":
        return rows.sum()
    if reduction == "mean":
        return rows.sum() / counts.sum()
    raise ValueError(f"`reduction` must be 'none', 'mean' or 'sum', got {reduction!r}")


def row_counts(target: Tensor, weight: Tensor | None, *, ignore_index: int) -> Tensor:
    """Return the weight of each position in the mean: its target's class weight, 0 if ignored.

    target: any shape   weight: (classes,), or None for 1 each   returns: the shape of target
    """
    ignored = target == ignore_index
    if weight is None:
        return ~ignored
    return weight[target.masked_fill(ignored, 0).long()].masked_fill(ignored, 0)
