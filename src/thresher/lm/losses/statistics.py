"""Statistics of the margin loss: how many tokens survive, and how much probability they have."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor
from torch.nn import functional

from thresher.lm.losses.argument_checks import (
    LinearInputs,
    check_linear,
    check_margin,
    check_targets,
)
from thresher.lm.losses.kernels.chunked import TILE_ELEMENTS
from thresher.lm.losses.options import MarginLossOptions
from thresher.lm.losses.survivors import below_threshold


@dataclass(frozen=True)
class RowStatistics:
    """Statistics of each position ("row") that is not ignored.

    survivors: (rows,), the number of tokens that survive
    entropy: (rows,), of the softmax over the survivors, in nats
    loss: (rows,), the margin loss, in nats
    target: (rows,)
    """

    survivors: Tensor
    entropy: Tensor
    loss: Tensor
    target: Tensor
    vocabulary: int

    @property
    def mean_fraction(self) -> float:
        """The mean fraction of the vocabulary that survives."""
        return self.survivors.double().mean().item() / self.vocabulary

    @property
    def median_fraction(self) -> float:
        """The median fraction of the vocabulary that survives."""
        return self.survivors.double().median().item() / self.vocabulary

    def held_by_heaviest(self, fraction: float) -> float:
        """Return which fraction of all survivors is in the rows with the most survivors.

        fraction: of the rows to count (at least one row)
        """
        if not 0 <= fraction <= 1:
            raise ValueError(f"`fraction` must lie in [0, 1], got {fraction}")
        rows = max(1, round(fraction * len(self.survivors)))
        heaviest = self.survivors.double().sort(descending=True).values[:rows]
        return (heaviest.sum() / self.survivors.sum()).item()

    def loss_by_group(self, groups: Sequence[Tensor]) -> list[float]:
        """Return the mean loss where the target is in each group of tokens; NaN for no position.

        groups: for each group, the ids of its tokens
        """
        return [
            self.loss[torch.isin(self.target, tokens.to(self.target.device))].mean().item()
            for tokens in groups
        ]


@dataclass(frozen=True)
class SelfishStatistics(RowStatistics):
    """Statistics that need all logits of a position.

    mass: (rows,), the probability of the survivors under the full softmax
    """

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
    """Compute the statistics of `selfish_cross_entropy` with the same arguments.

    input: (N, C)   target: (N,)   margin: a number or (N,)
    """
    if input.dim() != 2 or target.shape != input.shape[:1]:
        shapes = f"{tuple(input.shape)} and {tuple(target.shape)}"
        raise ValueError(f"`input` must be (N, C) and `target` (N,), got {shapes}")
    options = MarginLossOptions(
        margin=margin, ignore_index=ignore_index, temperature=temperature, softcap=softcap
    )
    check_margin(margin, target.shape)
    check_targets(target, input.shape[1], ignore_index=ignore_index)
    return _statistics(input, target, options)


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
    """Compute the statistics of `linear_selfish_cross_entropy`, for a few positions at a time.

    input: (positions, width)   weight: (vocabulary, width)   bias: (vocabulary,)
    target: (positions,)   margin: a number or (positions,)
    """
    options = MarginLossOptions(
        margin=margin.to(input.device) if isinstance(margin, Tensor) else margin,
        ignore_index=ignore_index,
        temperature=temperature,
        softcap=softcap,
    )
    check_linear(LinearInputs(input, weight, target, bias), ignore_index=ignore_index, wait=True)
    check_margin(margin, target.shape, wait=True)
    dtype = torch.promote_types(torch.promote_types(input.dtype, weight.dtype), torch.float32)
    input, weight = input.to(dtype), weight.to(dtype)
    bias = None if bias is None else bias.to(dtype)
    rows = max(1, TILE_ELEMENTS // weight.shape[0])
    with torch.autocast(input.device.type, enabled=False):
        parts = [
            _statistics(
                functional.linear(input[some], weight, bias),
                target[some],
                options.for_positions(some),
            )
            for some in (slice(i, i + rows) for i in range(0, len(target) or 1, rows))
        ]
    names = [field.name for field in fields(SelfishStatistics) if field.name != "vocabulary"]
    joined = {name: torch.cat([getattr(part, name) for part in parts]) for name in names}
    return SelfishStatistics(**joined, vocabulary=weight.shape[0])


def _statistics(logits: Tensor, target: Tensor, options: MarginLossOptions) -> SelfishStatistics:
    """Compute the statistics of all positions but the ignored ones.

    logits: (N, C)   target: (N,)
    """
    counted = target != options.ignore_index
    logits, target = logits[counted], target[counted].long()
    z = options.scale(logits)
    dead = below_threshold(z, target, margin=options.for_positions(counted).margin)
    log_p = z.to(torch.promote_types(z.dtype, torch.float32)).log_softmax(1)
    log_mass = log_p.masked_fill(dead, -math.inf).logsumexp(1)
    p = (log_p - log_mass[:, None]).exp().masked_fill(dead, 0)
    return SelfishStatistics(
        survivors=(~dead).sum(1),
        entropy=torch.special.entr(p).sum(1),
        mass=log_mass.exp(),
        loss=log_mass - log_p.gather(1, target[:, None])[:, 0],
        target=target,
        vocabulary=logits.shape[1],
    )
