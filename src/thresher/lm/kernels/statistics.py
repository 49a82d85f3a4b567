"""What the margin keeps, row by row, from one pass over the logits that holds none of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from thresher.lm.kernels import sparse
from thresher.lm.kernels.recording import Layer, record_survivors, target_logits
from thresher.lm.kernels.row_groups import row_groups
from thresher.lm.popularity import Group


@dataclass(frozen=True)
class SurvivorStatistics:
    """One number for each position, and how the backward pass treats the rows.

    survivors: (positions,), how many tokens survive, 0 where ignored
    loss: (positions,), the margin loss   entropy: (positions,), of the softmax over survivors; nats
    target: (positions,), −1 where ignored
    full, heavy, light: rows made again, multiplied from the record, gathered
    gathered: survivors of light rows, rounded up
    """

    survivors: Tensor
    loss: Tensor
    entropy: Tensor
    target: Tensor
    vocabulary: int
    full: int
    heavy: int
    light: int
    gathered: int

    @property
    def mean_share(self) -> float:
        """The share of the logits of all counted rows that survive."""
        return self._counted().mean().item() / self.vocabulary

    @property
    def median_share(self) -> float:
        """The share of the vocabulary that survives in the middle row."""
        return self._counted().median().item() / self.vocabulary

    def held_by_heaviest(self, share: float) -> float:
        """What part of all survivors the heaviest `share` of the rows hold (at least one row)."""
        if not 0 <= share <= 1:
            raise ValueError(f"share must lie in [0, 1], got {share}")
        counted = self._counted().sort(descending=True).values
        return (counted[: max(1, round(share * len(counted)))].sum() / counted.sum()).item()

    def loss_by_group(self, groups: Sequence[Group]) -> list[float]:
        """The mean loss over positions whose target is in each group, NaN where there is none."""
        return [
            self.loss[torch.isin(self.target, group.tokens.to(self.target.device))].mean().item()
            for group in groups
        ]

    def _counted(self) -> Tensor:
        return self.survivors[self.target >= 0].double()


@torch.no_grad()
def survivor_statistics(
    input: Tensor,
    weight: Tensor,
    target: Tensor,
    *,
    margin: float | Tensor,
    bias: Tensor | None = None,
    ignore_index: int = -100,
    temperature: float = 1.0,
    softcap: float | None = None,
) -> SurvivorStatistics:
    """What `linear_selfish_cross_entropy` with these arguments keeps, at the price of its forward.

    The loss and the weight's gradient are also all that `gradients.role_parts` needs to tell apart
    what each token received as an input, as a target and as neither.

    input: (positions, width)   weight: (vocabulary, width)   bias: (vocabulary,)
    target: (positions,)   margin: a number or (positions,)
    """
    dtype = torch.promote_types(input.dtype, weight.dtype)
    tokens = target.masked_fill(target == ignore_index, -1).int()
    layer = Layer(
        input.to(dtype).contiguous(),
        weight.to(dtype).contiguous(),
        None if bias is None else bias.float().contiguous(),
        None,
        tokens,
        temperature,
        softcap,
    )
    z_target, plan = target_logits(layer), sparse.PLAN
    recording = isinstance(margin, Tensor) or margin != math.inf
    record = record_survivors(
        layer, z_target, z_target - margin, plan, recording=recording, entropy=True
    )
    groups = row_groups(record, torch.ones_like(z_target), len(weight), plan)
    ignored = tokens < 0
    log_total = record.total.log()
    return SurvivorStatistics(
        survivors=record.survivors,
        loss=(record.maximum + log_total - z_target).masked_fill(ignored, 0),
        entropy=(log_total - record.weighted / record.total).masked_fill(ignored, 0),
        target=tokens,
        vocabulary=len(weight),
        full=groups.full,
        heavy=groups.dense - groups.full,
        light=len(tokens) - groups.dense,
        gathered=groups.listed,
    )
