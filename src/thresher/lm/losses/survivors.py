"""Which tokens compete with the target: the threshold of the margin loss."""

import torch
from torch import Tensor

from thresher.lm.losses.targets import readable


def thresholds(target_logit: Tensor, margin: float | Tensor) -> Tensor:
    """z_target − margin in at least float32, so that half precision moves no token across it.

    target_logit: (…)   margin: a number, or (…)   returns: (…)
    """
    precise = torch.promote_types(target_logit.dtype, torch.float32)
    return target_logit.to(precise) - margin


@torch.no_grad()
def below_threshold(logits: Tensor, target: Tensor, *, margin: float | Tensor) -> Tensor:
    """True for every token that does not survive: z_j < z_target − margin.

    Equality survives, so some token of every row does. A target out of range (an ignored one, say)
    is taken for the nearest class: to leave it out or to complain of it is left to the loss.

    logits: (C,), (N, C) or (N, C, d1, …)   target, and margin unless it is a number: (), (N,) or
    (N, d1, …)   returns: the shape of logits
    """
    classes = min(logits.dim() - 1, 1)
    position = target.reshape(target_shape(logits)).unsqueeze(classes)
    index = position.clamp(0, logits.shape[classes] - 1).long()
    if isinstance(margin, Tensor) and margin.dim():
        margin = margin.reshape(position.shape)
    return logits < thresholds(logits.gather(classes, index), margin)


def target_shape(logits: Tensor) -> torch.Size:
    """The shape of logits without their classes: one target for each."""
    return logits.shape[:1] + logits.shape[2:] if logits.dim() > 1 else torch.Size()


def rows_of_margin(margin: float | Tensor, rows: slice | Tensor) -> float | Tensor:
    """The margin of some rows: theirs, or the one of all."""
    return margin[rows] if isinstance(margin, Tensor) and margin.dim() else margin


def check_margin(margin: float | Tensor, shape: torch.Size, *, wait: bool = False) -> None:
    """Raise unless the margin is a number ≥ 0 or holds one for each row, where it is `readable`."""
    if not isinstance(margin, Tensor):
        if not margin >= 0:
            raise ValueError(f"margin must be at least 0 (inf is allowed), got {margin}")
        return
    if margin.dim() and margin.shape != shape:
        allowed = f"a number or a tensor of the target's shape {tuple(shape)}"
        raise ValueError(f"margin must be {allowed}, got shape {tuple(margin.shape)}")
    if readable(margin, wait=wait):
        wrong = ~(margin >= 0)
        if bool(wrong.any()):
            value = margin[wrong][0].item()
            raise ValueError(f"every margin must be at least 0 (inf is allowed), got {value}")
