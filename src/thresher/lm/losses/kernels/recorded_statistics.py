"""What the margin keeps, row by row, from one pass over the logits that holds none of them."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from thresher.lm.losses.argument_checks import check_linear
from thresher.lm.losses.kernels import sparse
from thresher.lm.losses.kernels.recording import Layer, record_survivors, target_logits
from thresher.lm.losses.kernels.row_groups import row_groups
from thresher.lm.losses.logit_scaling import check_scale
from thresher.lm.losses.statistics import RowStatistics
from thresher.lm.losses.survivors import check_margin


@dataclass(frozen=True)
class RecordedStatistics(RowStatistics):
    """And how the backward pass of the sparse kernels treats the rows.

    full, heavy, light: rows made again, multiplied from the record, gathered
    gathered: survivors of light rows
    """

    full: int
    heavy: int
    light: int
    gathered: int


@torch.no_grad()
def recorded_statistics(
    input: Tensor,
    weight: Tensor,
    target: Tensor,
    *,
    margin: float | Tensor,
    bias: Tensor | None = None,
    ignore_index: int = -100,
    temperature: float = 1.0,
    softcap: float | None = None,
) -> RecordedStatistics:
    """What `linear_selfish_cross_entropy` with these arguments keeps, at the price of its forward.

    The loss and the weight's gradient are also all that `gradients.role_parts` needs to tell apart
    what each token received as an input, as a target and as neither.

    input: (positions, width)   weight: (vocabulary, width)   bias: (vocabulary,)
    target: (positions,)   margin: a number or (positions,)
    """
    check_linear(input, weight, target, bias, ignore_index=ignore_index, wait=True)
    check_margin(margin, target.shape, wait=True)
    check_scale(temperature, softcap)
    tokens = target.masked_fill(target == ignore_index, -1).int()
    layer = Layer(
        *sparse.factors(input, weight),
        None if bias is None else bias.float().contiguous(),
        None,
        tokens,
        temperature,
        softcap,
    )
    z_target, plan = target_logits(layer), sparse.PLAN
    recording = isinstance(margin, Tensor) or margin != math.inf
    threshold = z_target - sparse.margins(margin, input.device)
    record = record_survivors(layer, z_target, threshold, plan, recording=recording, mean=True)
    groups = row_groups(record, z_target.new_ones(()), len(weight), plan)
    counted = tokens >= 0
    return RecordedStatistics(
        survivors=record.survivors[counted],
        loss=(record.lse - z_target)[counted],
        entropy=(record.lse - record.weighted)[counted],
        target=target[counted],
        vocabulary=len(weight),
        full=groups.full,
        heavy=groups.dense - groups.full,
        light=len(tokens) - groups.dense,
        gathered=groups.listed,
    )
