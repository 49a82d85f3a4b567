"""The margin ("selfish") cross-entropy from logits.

Ordinary cross-entropy pushes down every token that is not the target, at every position. For a rare
token these pushes are most of its gradient. Here a token whose logit is already a margin below the
target's gets no gradient, so that it only moves where it is the target or competes with it.
"""

import math
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.lm.losses.argument_checks import check_margin
from thresher.lm.losses.options import MarginLossOptions
from thresher.lm.losses.reductions import reduce_rows, row_counts
from thresher.lm.losses.survivors import below_threshold, target_shape


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
    z_loss: float = 0.0,
) -> Tensor:
    """Equal to masking every logit below `input[target] - margin`, then cross-entropy.

    Logits are soft-capped, divided by the temperature, and then compared: token j survives if
    z_j ≥ z_target − margin, that is p_j ≥ p_target·e^−margin. The others are left out of the
    normalisation and their gradient is exactly zero; no gradient flows through the threshold.
    Label smoothing spreads over the survivors. `z_loss` is the weight of lse², the square of the
    logarithm of Σ exp z over the survivors, which is added to the loss (and multiplied by the class
    weight of the target). `margin=math.inf` calls `torch.nn.functional.cross_entropy`. Everything
    else is as there, except that the target must hold class indices.

    input: (C,), (N, C) or (N, C, d1, …)   target: (), (N,) or (N, d1, …)
    margin: a number, or one for each target in a tensor of the target's shape
    returns: () or, with `reduction="none"`, the shape of target
    """
    options = MarginLossOptions(
        margin=margin,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        temperature=temperature,
        softcap=softcap,
        z_loss=z_loss,
    )
    _check(input, target, margin)
    logits = options.scale(input)
    plain = partial(functional.cross_entropy, weight=weight, ignore_index=ignore_index)
    if options.has_infinite_margin and not z_loss:
        return plain(logits, target, reduction=reduction, label_smoothing=label_smoothing)
    dead = below_threshold(logits, target, margin=margin)
    logits = torch.where(dead, -math.inf, logits)  # one pass; `masked_fill` would copy first
    if label_smoothing == 0 and not z_loss:
        return plain(logits, target, reduction=reduction)
    rows = plain(logits, target, reduction="none")
    counts = row_counts(target, weight, ignore_index=ignore_index)
    if label_smoothing:
        # Under autocast `cross_entropy` returns float32, whatever the dtype of the logits.
        uniform = _loss_of_uniform_target(logits.to(rows.dtype), dead, weight)
        uniform = uniform.reshape(target.shape).masked_fill(target == ignore_index, 0)
        rows = (1 - label_smoothing) * rows + label_smoothing * uniform
    if z_loss:
        lse = logits.to(rows.dtype).logsumexp(min(logits.dim() - 1, 1)).reshape(target.shape)
        rows = rows + z_loss * lse.square() * counts
    return reduce_rows(rows, reduction, counts)


class SelfishCrossEntropy(nn.Module):
    """`selfish_cross_entropy` as a module; `margin` may be set to a new value at every step."""

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
        z_loss: float = 0.0,
    ) -> None:
        super().__init__()
        MarginLossOptions(  # raises an error if one is out of range
            margin=margin,
            ignore_index=ignore_index,
            label_smoothing=label_smoothing,
            temperature=temperature,
            softcap=softcap,
            z_loss=z_loss,
        )
        self.margin = margin
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index
        self.reduction = reduction
        self.label_smoothing = label_smoothing
        self.temperature = temperature
        self.softcap = softcap
        self.z_loss = z_loss

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Compute the loss; shapes as in `selfish_cross_entropy`."""
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
            z_loss=self.z_loss,
        )

    def extra_repr(self) -> str:
        """Show the margin when the module is printed."""
        return f"margin={self.margin}"


def _loss_of_uniform_target(logits: Tensor, dead: Tensor, weight: Tensor | None) -> Tensor:
    """Return −Σ w_j·log p_j over a row's survivors, divided by their number."""
    class_dim = min(logits.dim() - 1, 1)
    losses = -logits.log_softmax(class_dim).masked_fill(dead, 0)
    if weight is not None:
        losses = losses * weight.reshape(-1, *[1] * (logits.dim() - 1 - class_dim))
    return losses.sum(class_dim) / (~dead).sum(class_dim)


def _check(input: Tensor, target: Tensor, margin: float | Tensor) -> None:
    if target.is_floating_point():
        raise TypeError(f"`target` must hold class indices (torch.int64), got {target.dtype}")
    single = input.dim() == 1 and target.numel() == 1  # torch accepts (1,) in place of () here
    shapes_match = target.shape == target_shape(input) or single
    if not (shapes_match and input.is_floating_point()):
        functional.cross_entropy(input, target)  # raises torch's own error
    check_margin(margin, target.shape)
