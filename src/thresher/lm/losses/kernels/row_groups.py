"""Group the rows of the gradient by how they are computed: recomputed, multiplied or gathered."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from thresher.lm.losses.kernels.plan import Plan
from thresher.lm.losses.kernels.recording import Layer, Record
from thresher.lm.losses.kernels.token_counts import TokenRanges, survivor_counts


@dataclass(frozen=True)
class RowGroups:
    """Rows in the order of their cost: first the full ones, then the heavy ones, then the light.

    A *full* row was not recorded: its logits are computed again. Full and *heavy* rows together are
    the *dense* rows, whose gradients are matrix products. The survivors of a *light* row are
    gathered one by one.

    order: (positions,)   full, dense: how many rows   listed: survivors of light rows
    popular: how many tokens survive in more than the light fraction of light rows
    scale: the largest absolute gradient of a row's loss
    offsets: (positions + 1,), of the lists of rows, in this order; those of dense rows are empty
    tokens: where the lists of tokens are, of the same survivors
    """

    order: Tensor
    full: int
    dense: int
    listed: int
    popular: int
    scale: float
    offsets: Tensor
    tokens: TokenRanges

    @property
    def all_full(self) -> bool:
        """Whether the record is not used at all; rows are then in their original order."""
        return self.full == len(self.order)


@dataclass(frozen=True)
class BackwardPass:
    """The inputs of the backward pass.

    terms: (6, positions), z_target, threshold, lse, pull, own, even (see `chunked`); the last three
    times the gradient of the row's loss, divided by `groups.scale`
    """

    layer: Layer
    record: Record
    terms: Tensor
    groups: RowGroups
    plan: Plan


def row_groups(record: Record, scale: Tensor, vocabulary: int, plan: Plan) -> RowGroups:
    """Group the rows by their number of survivors; the host waits until the device has it.

    A dense row costs 4·V·width operations, a survivor in a light row 2 reads of a vector. The
    fraction of survivors at which both take equally long is the ratio of memory bandwidth to
    arithmetic throughput, for any width.

    After the wait the device would be idle while the host launches many small kernels. So
    everything about the lists that does not depend on the sizes is computed here before the wait,
    while the device is still busy with logits.

    scale: ()
    """
    survivors = record.survivors.long()
    rows = torch.arange(len(survivors), device=survivors.device)
    full = ~record.kept & (survivors > 0)
    order = (survivors + full * vocabulary).argsort(descending=True, stable=True)
    dense = (full | (survivors > plan.light_fraction * vocabulary)).sum()
    dense = (dense + plan.dense_multiple - 1) // plan.dense_multiple * plan.dense_multiple
    dense = dense.minimum((survivors > 0).sum())
    light = torch.empty_like(full).index_copy_(0, order, rows >= dense)
    offsets = functional.pad((survivors * light)[order].cumsum(0), (1, 0))
    counts = survivor_counts(record, light, vocabulary, plan)
    popular = (counts > plan.light_fraction * light.sum()).sum()
    tokens = TokenRanges.from_counts(counts)
    on_device = full.sum(), dense, offsets[-1], popular, scale
    *known, largest = torch.stack([each.double() for each in on_device]).tolist()
    sizes = dict(zip(("full", "dense", "listed", "popular"), map(int, known), strict=True))
    if sizes["full"] > plan.max_full_fraction * len(rows):
        order, sizes = rows, {"full": len(rows), "dense": len(rows), "listed": 0, "popular": 0}
        offsets, tokens = offsets.new_zeros(1), TokenRanges.from_counts(counts[:0])  # frees memory
    return RowGroups(order, **sizes, scale=largest, offsets=offsets, tokens=tokens)
