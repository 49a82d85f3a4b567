"""Cross-entropy among the tokens that compete with the target.

In the usual loss every token that is *not* the target is pushed down at every position. For a rare
token that push is most of what it ever learns from. Here a token already a margin below the target
is left alone, so that it moves only where it matters: as the target, or close to one.
"""

import math
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.lm.losses.logit_scaling import check_scale, scale_logits
from thresher.lm.losses.reductions import reduce_rows, row_counts
from thresher.lm.losses.survivors import below_threshold, check_margin, target_shape
from thresher.lm.losses.targets import check_label_smoothing


def selfish_cross_entropy(
    input: Tensor,
    target: Tensor,
    *,
    margin: float | Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    temperature: float = 1.0,
    softcap: float | None = None,
) -> Tensor:
    """Equal to masking every logit below `input[target] - margin`, then cross-entropy.

    Logits are soft-capped, divided by the temperature, and only then compared: token j survives if
    z_j ≥ z_target − margin, that is p_j ≥ p_target·e^−margin. The others take no part in the
    normalisation and their gradient is exactly zero; none flows through the threshold either.
    Label smoothing spreads over the survivors. `margin=math.inf` is
    `torch.nn.functional.cross_entropy` itself. Everything else is as there, except that the target
    holds class indices only.

    input: (C,), (N, C) or (N, C, d1, …)   target: (), (N,) or (N, d1, …)
    margin: a number, or one for each target in a tensor of the target's shape
    returns: () or, with `reduction="none"`, the shape of target
    """
    _check(input, target, margin, label_smoothing, temperature, softcap)
    logits = scale_logits(input, temperature=temperature, softcap=softcap)
    plain = partial(functional.cross_entropy, weight=weight, ignore_index=ignore_index)
    if not isinstance(margin, Tensor) and margin == math.inf:
        return plain(logits, target, reduction=reduction, label_smoothing=label_smoothing)
    dead = below_threshold(logits, target, margin=margin)
    logits = torch.where(dead, -math.inf, logits)  # one pass; `masked_fill` would copy first
    if label_smoothing == 0:
        return plain(logits, target, reduction=reduction)
    rows = plain(logits, target, reduction="none")
    precise = logits.to(rows.dtype)  # autocast widened the rows within cross_entropy alone
    even = _loss_of_even_target(precise, dead, weight).reshape(target.shape)
    even = even.masked_fill(target == ignore_index, 0)
    rows = (1 - label_smoothing) * rows + label_smoothing * even
    return reduce_rows(rows, reduction, row_counts(target, weight, ignore_index=ignore_index))


class SelfishCrossEntropy(nn.Module):
    """`selfish_cross_entropy` with its options held; `margin` may be set anew at every step."""

    weight: Tensor | None

    def __init__(
        self,
        margin: float | Tensor,
        *,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
        temperature: float = 1.0,
        softcap: float | None = None,
    ) -> None:
        super().__init__()
        self.margin = margin
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index
        self.reduction = reduction
        self.label_smoothing = label_smoothing
        self.temperature = temperature
        self.softcap = softcap

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss; shapes as in `selfish_cross_entropy`."""
        return selfish_cross_entropy(
            input,
            target,
            margin=self.margin,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
            temperature=self.temperature,
            softcap=self.softcap,
        )

    def extra_repr(self) -> str:
        """What the loss is, when it is printed."""
        return f"margin={self.margin}"


def _loss_of_even_target(logits: Tensor, dead: Tensor, weight: Tensor | None) -> Tensor:
    """−Σ w_j·log p_j over a row's survivors, divided by their number."""
    classes = min(logits.dim() - 1, 1)
    losses = -logits.log_softmax(classes).masked_fill(dead, 0)
    if weight is not None:
        losses = losses * weight.reshape(-1, *[1] * (logits.dim() - 1 - classes))
    return losses.sum(classes) / (~dead).sum(classes)


def _check(
    input: Tensor,
    target: Tensor,
    margin: float | Tensor,
    label_smoothing: float,
    temperature: float,
    softcap: float | None,
) -> None:
    check_scale(temperature, softcap)
    if target.is_floating_point():
        raise TypeError(f"target must hold class indices (torch.int64), got {target.dtype}")
    single = input.dim() == 1 and target.numel() == 1  # torch takes (1,) for () here
    shapes_match = target.shape == target_shape(input) or single
    if not (shapes_match and input.is_floating_point()):
        functional.cross_entropy(input, target)  # raises, in torch's own words
    check_margin(margin, target.shape)
    check_label_smoothing(label_smoothing)
