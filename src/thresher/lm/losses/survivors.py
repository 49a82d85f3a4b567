"""Which tokens compete with the target ("survive"): the threshold of the margin loss."""

import torch
from torch import Tensor


def thresholds(target_logit: Tensor, margin: float | Tensor) -> Tensor:
    """Return z_target − margin, in float32 or wider: rounding must not move it across a logit.

    target_logit: (…)   margin: a number, or (…)   returns: (…)
    """
    dtype = torch.promote_types(target_logit.dtype, torch.float32)
    return target_logit.to(dtype) - margin


@torch.no_grad()
def below_threshold(logits: Tensor, target: Tensor, *, margin: float | Tensor) -> Tensor:
    """Return True for every token that does not survive: z_j < z_target − margin.

    A token exactly at the threshold survives, so at least the target does. A target out of range
    (such as an ignored one) is replaced by the nearest class; the loss decides what to do with it.

    logits: (C,), (N, C) or (N, C, d1, …)   target: (), (N,) or (N, d1, …)
    margin: a number, or of the target's shape   returns: the shape of logits
    """
    class_dim = min(logits.dim() - 1, 1)
    index = target.reshape(target_shape(logits)).unsqueeze(class_dim)
    if isinstance(margin, Tensor) and margin.dim():
        margin = margin.reshape(index.shape)
    index = index.clamp(0, logits.shape[class_dim] - 1).long()
    return logits < thresholds(logits.gather(class_dim, index), margin)


def target_shape(logits: Tensor) -> torch.Size:
    """Return the shape of the targets: that of the logits without the dimension of classes."""
    return logits.shape[:1] + logits.shape[2:] if logits.dim() > 1 else torch.Size()
