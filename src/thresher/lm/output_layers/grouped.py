"""A softmax within each of many groups; each row costs only its own group.

Rows are arranged into blocks of the same group, so that each block is one dense product.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.lm.output_layers.module import initial_weight


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


class GroupedSoftmax(nn.Module):
    """p(member | group, h) = softmax over the members of the group.

    The rows of the weight are the members of all groups, one group after the other: member i of
    group g is row first[g] + i.

    sizes: (groups,), the number of members of each group
    """

    first: Tensor
    sizes: Tensor

    def __init__(self, width: int, sizes: Tensor) -> None:
        super().__init__()
        if not bool((sizes >= 1).all()):
            raise ValueError(f"every group needs at least 1 member, got {int(sizes.min())}")
        self.register_buffer("sizes", sizes)
        self.register_buffer("first", sizes.cumsum(0) - sizes)
        self.largest = int(sizes.max())
        members = int(sizes.sum())
        self.weight = initial_weight(members, width)
        self.bias = nn.Parameter(torch.zeros(members))

    def log_probs(self, hidden: Tensor, group: Tensor) -> Tensor:
        """Return log p of each member of the row's group, padded with −∞.

        Rows of the same group are multiplied with its members together, so that a row costs as much
        as the largest group instead of all members.

        hidden: (rows, width)   group: (rows,)   returns: (rows, largest group)
        """
        blocks = blocks_by_group(group, len(self.sizes))
        number = torch.arange(self.largest, device=hidden.device)
        absent = number >= self.sizes[blocks.group, None]  # (blocks, largest)
        member = (self.first[blocks.group, None] + number).masked_fill(absent, 0)
        weight = functional.embedding(member, self.weight)  # (blocks, largest, width)
        bias = self.bias[member].masked_fill(absent, -math.inf)[:, None]
        logits = blocks.gather(hidden) @ weight.mT + bias
        return blocks.scatter(logits.log_softmax(-1))

    def all_log_probs(self, hidden: Tensor) -> Tensor:
        """Return log p(member | its group, h) of every member: (rows, members)."""
        logits = functional.linear(hidden, self.weight, self.bias)
        groups = logits.split_with_sizes(self.sizes.tolist(), -1)
        return torch.cat([group.log_softmax(-1) for group in groups], -1)
