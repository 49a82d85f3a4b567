"""Which rows of the gradient are computed again, which multiplied, and which gathered."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from thresher.lm.losses.kernels.plan import Plan
from thresher.lm.losses.kernels.recording import Record
from thresher.lm.losses.kernels.token_counts import TokenPlaces, token_counts


@dataclass(frozen=True)
class RowGroups:
    """Rows in the order of what they cost: first `full`, up to `dense`, and the light ones.

    A *full* row was not recorded: its logits are made again. Full and *heavy* rows are multiplied,
    as dense ones. The survivors of a *light* row are gathered one by one.

    order: (positions,)   full, dense: how many rows   scale: the largest gradient of a row's loss
    listed: survivors of light rows   popular: tokens that survive in more than their share of these
    offsets: (positions + 1,), of the lists of light rows, in order; dense rows have empty ones
    tokens: where the lists of tokens are, of the same survivors
    """

    order: Tensor
    full: int
    dense: int
    listed: int
    popular: int
    scale: float
    offsets: Tensor
    tokens: TokenPlaces

    @property
    def all_full(self) -> bool:
        """Whether no row is left to the record; rows are then in their own order."""
        return self.full == len(self.order)


def row_groups(record: Record, scale: Tensor, vocabulary: int, plan: Plan) -> RowGroups:
    """Split by the number of survivors; the host waits for the device to learn how many there are.

    A dense row costs 4·V·width operations, a light survivor 2 reads of a vector: the share at which
    both take equally long is that of memory bandwidth to arithmetic, whatever the width.

    The device would be idle while the host launches many small things after it has waited. So what
    can be known of the lists before is prepared here, while the device is still busy with logits.

    scale: ()
    """
    survivors = record.survivors.long()
    rows = torch.arange(len(survivors), device=survivors.device)
    full = ~record.kept & (survivors > 0)
    order = (survivors + full * vocabulary).argsort(descending=True, stable=True)
    dense = (full | (survivors > plan.light_share * vocabulary)).sum()
    dense = (dense + plan.dense_multiple - 1) // plan.dense_multiple * plan.dense_multiple
    dense = dense.minimum((survivors > 0).sum())
    light = torch.empty_like(full).index_copy_(0, order, rows >= dense)
    offsets = functional.pad((survivors * light)[order].cumsum(0), (1, 0))
    counts = token_counts(record, light, vocabulary, plan)
    popular = (counts > plan.light_share * light.sum()).sum()
    tokens = TokenPlaces.of(counts)
    asked = full.sum(), dense, offsets[-1], popular, scale
    *known, largest = torch.stack([each.double() for each in asked]).tolist()
    sizes = dict(zip(("full", "dense", "listed", "popular"), map(int, known), strict=True))
    if sizes["full"] > plan.most_full * len(rows):
        order, sizes = rows, {"full": len(rows), "dense": len(rows), "listed": 0, "popular": 0}
        offsets, tokens = offsets.new_zeros(1), TokenPlaces.of(counts[:0])  # memory given back
    return RowGroups(order, **sizes, scale=largest, offsets=offsets, tokens=tokens)
