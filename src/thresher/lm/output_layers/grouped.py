"""A softmax inside each of many groups, at the cost of one group for each row."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.lm.output_layers.blocks import blocks_by_group
from thresher.lm.output_layers.module import initial_weight


class GroupedSoftmax(nn.Module):
    """p(member | group, h) = softmax over the group's own members.

    Members are numbered through, group after group: member `place` of group g is row
    first[g] + place of the weight.

    sizes: (groups,), how many members each group has
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
        """log p of each member of the row's group; −∞ at places that the group does not have.

        Rows of a group are multiplied with its members together, so a row costs as much as the
        largest group and not as all members.

        hidden: (rows, width)   group: (rows,)   returns: (rows, largest group)
        """
        blocks = blocks_by_group(group, len(self.sizes))
        place = torch.arange(self.largest, device=hidden.device)
        absent = place >= self.sizes[blocks.group, None]  # (blocks, largest)
        member = (self.first[blocks.group, None] + place).masked_fill(absent, 0)
        weight = functional.embedding(member, self.weight)  # (blocks, largest, width)
        bias = self.bias[member].masked_fill(absent, -math.inf)[:, None]
        logits = blocks.gather(hidden) @ weight.mT + bias
        return blocks.scatter(logits.log_softmax(-1))

    def all_log_probs(self, hidden: Tensor) -> Tensor:
        """log p(member | its group, h) of every member: (rows, members)."""
        logits = functional.linear(hidden, self.weight, self.bias)
        groups = logits.split_with_sizes(self.sizes.tolist(), -1)
        return torch.cat([group.log_softmax(-1) for group in groups], -1)
