"""How many tokens survive the margin, and what they are worth; beside the loss, never within it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from thresher.lm.losses.argument_checks import check_linear
from thresher.lm.losses.kernels.chunked import TILE_ELEMENTS
from thresher.lm.losses.logit_scaling import check_scale, scale_logits
from thresher.lm.losses.survivors import below_threshold, check_margin, rows_of_margin
from thresher.lm.losses.targets import check_targets
from thresher.lm.reports.frequency_groups import Group


@dataclass(frozen=True)
class RowStatistics:
    """One number for each position that is not ignored.

    survivors: (rows,), how many tokens survive   entropy: (rows,), nats, of the softmax over them
    loss: (rows,), the margin loss, nats   target: (rows,)
    """

    survivors: Tensor
    entropy: Tensor
    loss: Tensor
    target: Tensor
    vocabulary: int

    @property
    def mean_share(self) -> float:
        """The share of all logits that survive."""
        return self.survivors.double().mean().item() / self.vocabulary

    @property
    def median_share(self) -> float:
        """The share of the vocabulary that survives in the middle row."""
        return self.survivors.double().median().item() / self.vocabulary

    def held_by_heaviest(self, share: float) -> float:
        """What part of all survivors the heaviest `share` of the rows hold (at least one row)."""
        if not 0 <= share <= 1:
            raise ValueError(f"share must lie in [0, 1], got {share}")
        rows = max(1, round(share * len(self.survivors)))
        heaviest = self.survivors.double().sort(descending=True).values[:rows]
        return (heaviest.sum() / self.survivors.sum()).item()

    def loss_by_group(self, groups: Sequence[Group]) -> list[float]:
        """The mean loss over rows whose target is in each group, NaN where there is none."""
        return [
            self.loss[torch.isin(self.target, group.tokens.to(self.target.device))].mean().item()
            for group in groups
        ]


@dataclass(frozen=True)
class SelfishStatistics(RowStatistics):
    """And what needs all logits: mass: (rows,), what the full softmax gives the survivors."""

    mass: Tensor


@torch.no_grad()
def selfish_statistics(
    input: Tensor,
    target: Tensor,
    *,
    margin: float | Tensor,
    ignore_index: int = -100,
    temperature: float = 1.0,
    softcap: float | None = None,
) -> SelfishStatistics:
    """What `selfish_cross_entropy` with these arguments keeps.

    input: (N, C)   target: (N,)   margin: a number or (N,)
    """
    if input.dim() != 2 or target.shape != input.shape[:1]:
        shapes = f"{tuple(input.shape)} and {tuple(target.shape)}"
        raise ValueError(f"input must be (N, C) and target (N,), got {shapes}")
    check_scale(temperature, softcap)
    check_margin(margin, target.shape)
    check_targets(target, input.shape[1], ignore_index=ignore_index)
    counted = target != ignore_index
    input, target = input[counted], target[counted].long()
    z = scale_logits(input, temperature=temperature, softcap=softcap)
    dead = below_threshold(z, target, margin=rows_of_margin(margin, counted))
    log_p = z.to(torch.promote_types(z.dtype, torch.float32)).log_softmax(1)
    log_kept = log_p.masked_fill(dead, -math.inf).logsumexp(1)
    p = (log_p - log_kept[:, None]).exp().masked_fill(dead, 0)
    return SelfishStatistics(
        survivors=(~dead).sum(1),
        entropy=torch.special.entr(p).sum(1),
        mass=log_kept.exp(),
        loss=log_kept - log_p.gather(1, target[:, None])[:, 0],
        target=target,
        vocabulary=input.shape[1],
    )


@torch.no_grad()
def linear_selfish_statistics(
    input: Tensor,
    weight: Tensor,
    target: Tensor,
    *,
    margin: float | Tensor,
    bias: Tensor | None = None,
    ignore_index: int = -100,
    temperature: float = 1.0,
    softcap: float | None = None,
) -> SelfishStatistics:
    """What `linear_selfish_cross_entropy` keeps: the same, for a few positions at a time.

    input: (positions, width)   weight: (vocabulary, width)   bias: (vocabulary,)
    target: (positions,)   margin: a number or (positions,)
    """
    check_linear(input, weight, target, bias, ignore_index=ignore_index, wait=True)
    check_margin(margin, target.shape, wait=True)
    check_scale(temperature, softcap)
    if isinstance(margin, Tensor):
        margin = margin.to(input.device)
    precise = torch.promote_types(torch.promote_types(input.dtype, weight.dtype), torch.float32)
    input, weight = input.to(precise), weight.to(precise)
    bias = None if bias is None else bias.to(precise)
    rows = max(1, TILE_ELEMENTS // weight.shape[0])
    with torch.autocast(input.device.type, enabled=False):
        parts = [
            selfish_statistics(
                functional.linear(input[some], weight, bias),
                target[some],
                margin=rows_of_margin(margin, some),
                ignore_index=ignore_index,
                temperature=temperature,
                softcap=softcap,
            )
            for some in (slice(i, i + rows) for i in range(0, len(target) or 1, rows))
        ]
    return SelfishStatistics(
        survivors=torch.cat([part.survivors for part in parts]),
        entropy=torch.cat([part.entropy for part in parts]),
        mass=torch.cat([part.mass for part in parts]),
        loss=torch.cat([part.loss for part in parts]),
        target=torch.cat([part.target for part in parts]),
        vocabulary=weight.shape[0],
    )
