"""What a target may be."""

import torch
from torch import Tensor


def check_targets(
    target: Tensor, vocabulary: int, *, ignore_index: int | None = None, wait: bool = False
) -> None:
    """Raise TypeError for targets that are no class indices (torch takes small ones for masks).

    And IndexError, as torch does, for one that is no token of the vocabulary, where `readable`.
    """
    if target.dtype not in (torch.int64, torch.int32):
        allowed = "torch.int64 or torch.int32"
        raise TypeError(f"target must hold class indices ({allowed}), got {target.dtype}")
    if not readable(target, wait=wait):
        return
    wrong = (target < 0) | (target >= vocabulary)
    if ignore_index is not None:
        wrong &= target != ignore_index
    if bool(wrong.any()):
        allowed = f"lie in [0, {vocabulary})"
        if ignore_index is not None:
            allowed += f" or be the ignore_index {ignore_index}"
        raise IndexError(f"every target must {allowed}, got {target[wrong][0].item()}")


def readable(values: Tensor, *, wait: bool) -> bool:
    """Whether values may be looked at: on another device than the CPU the host must `wait`.

    In a loss that would hold up every step. What is being compiled has no values yet.
    """
    return (wait or values.device.type == "cpu") and not torch.compiler.is_compiling()


def check_label_smoothing(label_smoothing: float) -> None:
    """Raise what torch raises unless this share of the target can be spread over others."""
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
