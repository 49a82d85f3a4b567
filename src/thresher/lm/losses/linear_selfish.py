"""The margin loss from hidden states, without holding the logits of the whole vocabulary."""

from importlib.util import find_spec
from types import ModuleType

import torch
from torch import Tensor

from thresher.errors import requires_extra
from thresher.lm.losses.argument_checks import LinearInputs, check_linear, check_margin
from thresher.lm.losses.kernels import chunked
from thresher.lm.losses.kernels.products import wide_products
from thresher.lm.losses.options import MarginLossOptions
from thresher.lm.losses.reductions import reduce_rows, row_counts

# Up to this size plain torch is faster on a GPU: the Triton implementation launches many kernels.
FEW_LOGITS, SMALL_WEIGHT = 2**22, 2**26


def linear_selfish_cross_entropy(
    input: Tensor,
    weight: Tensor,
    target: Tensor,
    *,
    margin: float | Tensor,
    bias: Tensor | None = None,
    class_weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
    temperature: float = 1.0,
    softcap: float | None = None,
    implementation: str | None = None,
) -> Tensor:
    """Equal to `selfish_cross_entropy(input @ weight.T + bias, target, weight=class_weight, …)`.

    Memory beyond inputs and gradients is bounded in both passes: logits are computed tile by tile.
    Gradients reach input, weight and bias. For half precision, sums and the loss are in float32.

    implementation: "chunked" is plain torch, for any device and dtype, and computes all logits
    again for the gradients. "triton" records the survivors in one pass over the logits and computes
    gradients from them alone; it works in float16, bfloat16 and float32 on CUDA devices, where it
    is the default except for small inputs (at most `FEW_LOGITS` and `SMALL_WEIGHT`).

    input: (positions, width)   weight: (vocabulary, width)   bias, class_weight: (vocabulary,)
    target: (positions,)   margin: a number, or one for each position
    returns: () or, with `reduction="none"`, (positions,)
    """
    options = MarginLossOptions(
        margin=margin,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        temperature=temperature,
        softcap=softcap,
    )
    inputs = LinearInputs(input, weight, target, bias, class_weight)
    check_linear(inputs, ignore_index=ignore_index)
    check_margin(margin, target.shape)
    rows = _implementation(implementation, input, weight).row_losses(inputs, options)
    return reduce_rows(rows, reduction, row_counts(target, class_weight, ignore_index=ignore_index))


def _implementation(name: str | None, input: Tensor, weight: Tensor) -> ModuleType:
    if name is None:
        name = "triton" if _suits_triton(input, weight) else "chunked"
    if name == "chunked":
        return chunked
    if name == "triton":
        with requires_extra("gpu", "the implementation triton needs triton"):
            from thresher.lm.losses.kernels import sparse  # noqa: PLC0415 (an extra)

        return sparse
    raise ValueError(f"`implementation` must be 'chunked', 'triton' or None, got {name!r}")


def _suits_triton(input: Tensor, weight: Tensor) -> bool:
    if not (input.is_cuda and weight.is_cuda and find_spec("triton") and wide_products()):
        return False
    dtype = torch.promote_types(input.dtype, weight.dtype)
    supported = dtype in (torch.float16, torch.bfloat16, torch.float32)
    return supported and not is_small(input, weight)


def is_small(input: Tensor, weight: Tensor) -> bool:
    """Whether plain torch is faster on a GPU, because there is little to compute."""
    return len(input) * len(weight) <= FEW_LOGITS and weight.numel() <= SMALL_WEIGHT
