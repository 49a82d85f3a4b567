"""Other implementations of the margin loss and of cross-entropy, if they are installed.

Two of them are pure-Python packages. On a machine where nothing can be installed, KERNEL_PEERS is
the folder in which they were unpacked.
"""

import math
import os
import sys
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.kernel.timing import Loss
from thresher.lm import linear_selfish_cross_entropy, selfish_cross_entropy


def eager(input: Tensor, weight: Tensor, target: Tensor) -> Tensor:
    return functional.cross_entropy((input @ weight.T).float(), target)


def naive_margin(input: Tensor, weight: Tensor, target: Tensor) -> Tensor:
    return selfish_cross_entropy((input @ weight.T).float(), target, margin=4.0)


def margin_losses() -> dict[str, Loss]:
    """Return the implementations of the margin loss, ours first."""
    return {
        "thresher, Triton": partial(linear_selfish_cross_entropy, margin=4.0),
        "margin loss, torch.compile": torch.compile(naive_margin, dynamic=False),
    }


def cross_entropy_losses() -> dict[str, Loss]:
    """Return the implementations of cross-entropy, ours first."""
    found: dict[str, Loss] = {
        "thresher, Triton, margin ∞": partial(linear_selfish_cross_entropy, margin=math.inf)
    }
    found |= _cut_cross_entropy() | _liger()
    return found | {"torch.compile": torch.compile(eager, dynamic=False), "torch": eager}


def _extend_path() -> None:
    folder = os.environ.get("KERNEL_PEERS")
    if folder and folder not in sys.path:
        sys.path.append(folder)


def _cut_cross_entropy() -> dict[str, Loss]:
    _extend_path()
    try:
        from cut_cross_entropy import linear_cross_entropy  # noqa: PLC0415
    except ImportError:
        return {}
    return {
        "Cut Cross-Entropy": linear_cross_entropy,
        "Cut Cross-Entropy, nothing skipped": partial(linear_cross_entropy, filter_eps=None),
    }


def _liger() -> dict[str, Loss]:
    _extend_path()
    try:
        from liger_kernel.ops.fused_linear_cross_entropy import (  # noqa: PLC0415
            LigerFusedLinearCrossEntropyFunction,
        )
    except ImportError:
        return {}

    def liger(input: Tensor, weight: Tensor, target: Tensor) -> Tensor:
        result = LigerFusedLinearCrossEntropyFunction.apply(input, weight, target)
        loss: Tensor = result[0] if isinstance(result, tuple) else result
        return loss

    return {"Liger": liger}
