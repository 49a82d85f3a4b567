"""Which rows of the gradient are computed again, which multiplied, and which gathered."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from thresher.lm.kernels.plan import Plan
from thresher.lm.kernels.recording import Record


@dataclass(frozen=True)
class RowGroups:
    """Rows in the order of what they cost: first `full`, up to `dense`, and the light ones.

    A *full* row was not recorded: its logits are made again. Full and *heavy* rows are multiplied,
    as dense ones. The survivors of a *light* row are gathered one by one.

    order: (positions,)   full, dense: how many rows   listed: at most so many light survivors
    scale: the largest gradient of a row's loss
    """

    order: Tensor
    full: int
    dense: int
    listed: int
    scale: float

    @property
    def all_full(self) -> bool:
        """Whether no row is left to the record; rows are then in their own order."""
        return self.full == len(self.order)


def row_groups(record: Record, grad_rows: Tensor, vocabulary: int, plan: Plan) -> RowGroups:
    """Split by the number of survivors; the host waits for the device to learn how many there are.

    A dense row costs 4·V·width operations, a light survivor 2 reads of a vector: the share at which
    both take equally long is that of memory bandwidth to arithmetic, whatever the width.
    """
    survivors = record.survivors.long()
    rows = torch.arange(len(survivors), device=survivors.device)
    full = ~record.kept & (survivors > 0)
    light = ~full & (survivors <= plan.light_share * vocabulary)
    order = (survivors + full * vocabulary).argsort(descending=True, stable=True)
    sizes = [full.sum(), (~light).sum(), (survivors > 0).sum(), (survivors * light).sum()]
    largest = functional.pad(grad_rows.abs(), (0, 1)).max()
    *counts, scale = torch.stack([*(size.double() for size in sizes), largest.double()]).tolist()
    full_rows, dense, occupied, listed = (int(count) for count in counts)
    scale = scale or 1.0
    if full_rows > plan.most_full * len(rows):
        return RowGroups(order=rows, full=len(rows), dense=len(rows), listed=0, scale=scale)
    if dense:
        dense = min(-(-dense // plan.dense_multiple) * plan.dense_multiple, occupied)
    return RowGroups(order=order, full=full_rows, dense=dense, listed=listed, scale=scale)
