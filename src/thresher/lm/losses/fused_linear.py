"""The margin loss as a module with the interface of Liger's fused linear cross-entropy."""

import math

import torch
from torch import Tensor, nn

from thresher.lm.losses.linear_selfish import linear_selfish_cross_entropy
from thresher.lm.losses.options import MarginLossOptions


class FusedLinearCrossEntropyLoss(nn.Module):
    """`linear_selfish_cross_entropy` in place of `LigerFusedLinearCrossEntropyLoss`.

    Its arguments have Liger's names and order; `margin` is new, and infinite by default, which is
    plain cross-entropy. The gradients of `reduction="none"` are exact for any gradient of the
    losses.

    ce_weight: (vocabulary,), a weight for each class
    lse_square_scale: the weight of the z-loss
    return_z_loss: also return the z-loss, which is part of the loss, without a gradient
    accum_dtype: accepted for compatibility; sums are always in float32
    """

    ce_weight: Tensor | None

    def __init__(
        self,
        ce_weight: Tensor | None = None,
        ignore_index: int = -100,
        lse_square_scale: float = 0.0,
        label_smoothing: float = 0.0,
        reduction: str = "mean",
        softcap: float | None = None,
        return_z_loss: bool = False,
        accum_dtype: torch.dtype | None = None,
        *,
        margin: float | Tensor = math.inf,
    ) -> None:
        super().__init__()
        MarginLossOptions(  # raises an error if one is out of range
            margin=margin,
            ignore_index=ignore_index,
            label_smoothing=label_smoothing,
            softcap=softcap,
            z_loss=lse_square_scale,
        )
        if accum_dtype not in (None, torch.float32):
            raise ValueError(f"`accum_dtype` must be torch.float32 or None, got {accum_dtype}")
        self.register_buffer("ce_weight", ce_weight)
        self.ignore_index = ignore_index
        self.lse_square_scale = lse_square_scale
        self.label_smoothing = label_smoothing
        self.reduction = reduction
        self.softcap = softcap
        self.return_z_loss = return_z_loss
        self.margin = margin

    def forward(
        self, lin_weight: Tensor, _input: Tensor, target: Tensor, bias: Tensor | None = None
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Compute the loss of the logits `_input @ lin_weight.T + bias`.

        lin_weight: (vocabulary, width)   _input: (positions, width)   target: (positions,)
        """
        loss = self._loss(lin_weight, _input, target, bias, z_loss=self.lse_square_scale)
        if not self.return_z_loss:
            return loss
        with torch.no_grad():
            without = self._loss(lin_weight, _input, target, bias, z_loss=0.0)
        return loss, loss.detach() - without

    def _loss(
        self, weight: Tensor, input: Tensor, target: Tensor, bias: Tensor | None, *, z_loss: float
    ) -> Tensor:
        return linear_selfish_cross_entropy(
            input,
            weight,
            target,
            margin=self.margin,
            bias=bias,
            class_weight=self.ce_weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
            softcap=self.softcap,
            z_loss=z_loss,
        )

    def extra_repr(self) -> str:
        """Show the margin when the module is printed."""
        return f"margin={self.margin}"
