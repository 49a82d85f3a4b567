"""From one loss for each row to what was asked for, in torch's words."""

from torch import Tensor


def reduce_rows(rows: Tensor, reduction: str, counts: Tensor) -> Tensor:
    """The rows, their sum, or their sum over Σ counts: NaN where nothing counts, as in torch.

    rows: any shape, zero where ignored   counts: the same, what each row weighs in the mean
    returns: the shape of rows for "none", otherwise ()
    """
    if reduction == "none":
        return rows
    if reduction == "sum":
        return rows.sum()
    if reduction == "mean":
        return rows.sum() / counts.sum()
    raise ValueError(f"reduction must be 'none', 'mean' or 'sum', got {reduction!r}")


def row_counts(target: Tensor, weight: Tensor | None, *, ignore_index: int) -> Tensor:
    """What each row weighs in the mean: its target's class weight, nothing where it is ignored.

    target: any shape   weight: (classes,), or None for 1 each   returns: the shape of target
    """
    ignored = target == ignore_index
    if weight is None:
        return ~ignored
    return weight[target.masked_fill(ignored, 0).long()].masked_fill(ignored, 0)
