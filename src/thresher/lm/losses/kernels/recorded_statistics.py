"""Statistics of the margin loss from the forward pass of the Triton implementation."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from thresher.lm.losses.argument_checks import LinearInputs, check_linear, check_margin
from thresher.lm.losses.kernels import sparse
from thresher.lm.losses.kernels.recording import Layer, record_survivors, target_logits
from thresher.lm.losses.kernels.row_groups import row_groups
from thresher.lm.losses.options import MarginLossOptions
from thresher.lm.losses.statistics import RowStatistics


@dataclass(frozen=True)
class RecordedStatistics(RowStatistics):
    """Statistics of the rows, and how the backward pass of the Triton implementation groups them.

    full, heavy, light: numbers of rows, see `RowGroups`   gathered: survivors of light rows
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
    **options: Any,
) -> RecordedStatistics:
    """Compute the statistics of `linear_selfish_cross_entropy`, in the time of its forward pass.

    Together with the gradient of the weight, the loss is also all that `reports.gradient_roles`
    needs to split each token's gradient by role.

    input: (positions, width)   weight: (vocabulary, width)   bias: (vocabulary,)
    target: (positions,)   margin: a number or (positions,)
    options: `ignore_index`, `temperature` and `softcap`
    """
    loss_options = MarginLossOptions(margin=margin, **options)
    check_linear(
        LinearInputs(input, weight, target, bias), ignore_index=loss_options.ignore_index, wait=True
    )
    check_margin(margin, target.shape, wait=True)
    tokens = target.masked_fill(target == loss_options.ignore_index, -1).int()
    bias = None if bias is None else bias.float().contiguous()
    layer = Layer(*sparse.factors(input, weight), bias, None, tokens, loss_options)
    z_target, plan = target_logits(layer), sparse.PLAN
    threshold = z_target - sparse.margin_tensor(margin, input.device)
    recording = not loss_options.has_infinite_margin
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
