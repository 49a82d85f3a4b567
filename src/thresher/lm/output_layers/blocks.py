"""Rows of the same group side by side, so that each group's product is dense."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Blocks:
    """Rows laid out in blocks of equal length, all rows of a block in the same group.

    group: (blocks,), the group of each block   slot: (rows,), where each row lies, counted through
    all blocks   length: rows in a block, used or not
    """

    group: Tensor
    slot: Tensor
    length: int

    def gather(self, rows: Tensor) -> Tensor:
        """(rows, width) to (blocks, length, width), zero where no row lies."""
        blocks, width = len(self.group), rows.shape[1]
        laid = rows.new_zeros(blocks * self.length, width).index_copy(0, self.slot, rows)
        return laid.reshape(blocks, self.length, width)

    def scatter(self, blocks: Tensor) -> Tensor:
        """(blocks, length, width) back to (rows, width)."""
        return blocks.flatten(0, 1).index_select(0, self.slot)


def blocks_by_group(group: Tensor, groups: int) -> Blocks:
    """Blocks as long as the mean number of rows in a group.

    So there are at most twice as many blocks as groups, with room for at most about twice the rows:
    whatever is done once for each block, or for each slot, costs no more than double.

    group: (rows,), in [0, groups)
    """
    rows = len(group)
    length = max(1, -(-rows // groups))
    counts = torch.bincount(group, minlength=groups)
    blocks = -(-counts // length)
    first_row, first_block = counts.cumsum(0) - counts, blocks.cumsum(0) - blocks
    order = group.argsort(stable=True)
    rank = torch.empty_like(order)
    rank[order] = torch.arange(rows, device=group.device) - first_row[group[order]]
    return Blocks(
        group=torch.arange(groups, device=group.device).repeat_interleave(blocks),
        slot=first_block[group] * length + rank,
        length=length,
    )
