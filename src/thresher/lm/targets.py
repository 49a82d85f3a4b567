"""What a target may be."""

import torch
from torch import Tensor


def check_targets(target: Tensor, vocabulary: int, *, ignore_index: int | None = None) -> None:
    """Raise IndexError, as torch does, for a target that is no token of the vocabulary.

    Only on the CPU: to look at values on another device would make every step wait for it.
    """
    if target.device.type != "cpu" or torch.compiler.is_compiling():
        return
    wrong = (target < 0) | (target >= vocabulary)
    if ignore_index is not None:
        wrong &= target != ignore_index
    if bool(wrong.any()):
        allowed = f"lie in [0, {vocabulary})"
        if ignore_index is not None:
            allowed += f" or be the ignore_index {ignore_index}"
        raise IndexError(f"every target must {allowed}, got {target[wrong][0].item()}")


def check_label_smoothing(label_smoothing: float) -> None:
    """Raise what torch raises unless this share of the target can be spread over others."""
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
