"""Arrange rows into blocks of the same group, so that each block is one dense product."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Blocks:
    """An arrangement of rows in blocks of equal length, each with rows of one group.

    group: (blocks,), the group of each block
    slot: (rows,), the position of each row, counted over all blocks
    length: rows in a block, including unused ones
    """

    group: Tensor
    slot: Tensor
    length: int

    def gather(self, rows: Tensor) -> Tensor:
        """Move rows into their blocks, with zeros in unused slots.

        (rows, width) to (blocks, length, width)
        """
        blocks, width = len(self.group), rows.shape[1]
        padded = rows.new_zeros(blocks * self.length, width).index_copy(0, self.slot, rows)
        return padded.reshape(blocks, self.length, width)

    def scatter(self, blocks: Tensor) -> Tensor:
        """Move rows back out of their blocks: (blocks, length, width) to (rows, width)."""
        return blocks.flatten(0, 1).index_select(0, self.slot)


def blocks_by_group(group: Tensor, groups: int) -> Blocks:
    """Arrange rows in blocks that are as long as the mean number of rows in a group.

    There are then at most twice as many blocks as groups, and at most about twice as many slots as
    rows, so that work per block or per slot at most doubles.

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
