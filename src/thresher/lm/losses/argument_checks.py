"""Checks of the tensors given to the margin loss: dtypes, shapes and values.

The values of a tensor on a GPU are only checked with `wait=True`: to look at them the host has to
wait for the GPU, which would slow down every training step.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class LinearInputs:
    """The tensors that are given to `linear_selfish_cross_entropy`.

    input: (positions, width)   weight: (vocabulary, width)   target: (positions,)
    bias, class_weight: (vocabulary,), or None
    """

    input: Tensor
    weight: Tensor
    target: Tensor
    bias: Tensor | None = None
    class_weight: Tensor | None = None


def check_linear(inputs: LinearInputs, *, ignore_index: int, wait: bool = False) -> None:
    """Raise an error if dtypes, shapes or targets do not fit together."""
    input, weight, target = inputs.input, inputs.weight, inputs.target
    if not (input.is_floating_point() and weight.is_floating_point()):
        dtypes = f"{input.dtype} and {weight.dtype}"
        raise TypeError(f"`input` and `weight` must be floating-point tensors, got {dtypes}")
    if input.dim() != 2 or weight.dim() != 2 or input.shape[1] != weight.shape[1]:
        shapes = f"{tuple(input.shape)} and {tuple(weight.shape)}"
        rule = "`input` must be (positions, width) and `weight` (vocabulary, width)"
        raise ValueError(f"{rule}, got {shapes}")
    if not weight.numel():
        raise ValueError(f"`weight` must not be empty, got shape {tuple(weight.shape)}")
    if target.shape != input.shape[:1]:
        rule = f"`target` must be ({input.shape[0]},), one for each position of `input`"
        raise ValueError(f"{rule}, got {tuple(target.shape)}")
    for name, values in {"bias": inputs.bias, "class_weight": inputs.class_weight}.items():
        if values is not None and values.shape != weight.shape[:1]:
            rule = f"`{name}` must be ({weight.shape[0]},), one for each token of `weight`"
            raise ValueError(f"{rule}, got {tuple(values.shape)}")
    check_targets(target, weight.shape[0], ignore_index=ignore_index, wait=wait)


def check_targets(
    target: Tensor, vocabulary: int, *, ignore_index: int | None = None, wait: bool = False
) -> None:
    """Raise a TypeError if targets are not class indices, an IndexError if one is out of range.

    Unlike torch, 8-bit integers are refused: as an index torch would take them for a mask.
    """
    if target.dtype not in (torch.int64, torch.int32):
        allowed = "torch.int64 or torch.int32"
        raise TypeError(f"`target` must hold class indices ({allowed}), got {target.dtype}")
    if not _can_check_values(target, wait=wait):
        return
    wrong = (target < 0) | (target >= vocabulary)
    if ignore_index is not None:
        wrong &= target != ignore_index
    if bool(wrong.any()):
        allowed = f"lie in [0, {vocabulary})"
        if ignore_index is not None:
            allowed += f" or be the `ignore_index` {ignore_index}"
        raise IndexError(f"every target must {allowed}, got {target[wrong][0].item()}")


def check_margin(margin: float | Tensor, shape: torch.Size, *, wait: bool = False) -> None:
    """Raise a ValueError unless a margin in a tensor is one number, or one for each target.

    `MarginLossOptions` checks a margin that is a number.

    shape: of the target
    """
    if not isinstance(margin, Tensor):
        return
    if margin.dim() and margin.shape != shape:
        allowed = f"a number or a tensor of the target's shape {tuple(shape)}"
        raise ValueError(f"`margin` must be {allowed}, got shape {tuple(margin.shape)}")
    if _can_check_values(margin, wait=wait):
        wrong = ~(margin >= 0)
        if bool(wrong.any()):
            value = margin[wrong][0].item()
            raise ValueError(f"every `margin` must be at least 0 (inf is allowed), got {value}")


def _can_check_values(values: Tensor, *, wait: bool) -> bool:
    """Whether the values can be read without waiting; there are none under torch.compile."""
    return (wait or values.device.type == "cpu") and not torch.compiler.is_compiling()
