"""Losses that help rare tokens, above all the margin ("selfish") cross-entropy."""

from typing import TYPE_CHECKING

from thresher.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from thresher.lm.losses.fused_linear import FusedLinearCrossEntropyLoss
    from thresher.lm.losses.hugging_face import trainer_loss
    from thresher.lm.losses.linear_selfish import linear_selfish_cross_entropy
    from thresher.lm.losses.margin import Margin
    from thresher.lm.losses.margin_choice import AutoMargin, auto_margin
    from thresher.lm.losses.model_patch import apply_margin_loss
    from thresher.lm.losses.selfish import SelfishCrossEntropy, selfish_cross_entropy
    from thresher.lm.losses.statistics import (
        SelfishStatistics,
        linear_selfish_statistics,
        selfish_statistics,
    )

__all__ = [
    "AutoMargin",
    "FusedLinearCrossEntropyLoss",
    "Margin",
    "SelfishCrossEntropy",
    "SelfishStatistics",
    "apply_margin_loss",
    "auto_margin",
    "linear_selfish_cross_entropy",
    "linear_selfish_statistics",
    "selfish_cross_entropy",
    "selfish_statistics",
    "trainer_loss",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "thresher.lm.losses.fused_linear": ["FusedLinearCrossEntropyLoss"],
        "thresher.lm.losses.margin_choice": ["AutoMargin", "auto_margin"],
        "thresher.lm.losses.hugging_face": ["trainer_loss"],
        "thresher.lm.losses.linear_selfish": ["linear_selfish_cross_entropy"],
        "thresher.lm.losses.margin": ["Margin"],
        "thresher.lm.losses.model_patch": ["apply_margin_loss"],
        "thresher.lm.losses.selfish": ["SelfishCrossEntropy", "selfish_cross_entropy"],
        "thresher.lm.losses.statistics": [
            "SelfishStatistics",
            "linear_selfish_statistics",
            "selfish_statistics",
        ],
    },
)
