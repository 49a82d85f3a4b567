"""The margin loss from hidden states, without holding the logits of the whole vocabulary."""

import os
from types import ModuleType

import torch
from torch import Tensor

from thresher.errors import requires_extra
from thresher.lm.losses.argument_checks import LinearInputs, check_linear, check_margin
from thresher.lm.losses.kernels import chunked, dense
from thresher.lm.losses.kernels.choice import IMPLEMENTATIONS, fastest
from thresher.lm.losses.options import MarginLossOptions
from thresher.lm.losses.reductions import reduce_rows, row_counts


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
    z_loss: float = 0.0,
    implementation: str | None = None,
) -> Tensor:
    """Equal to `selfish_cross_entropy(input @ weight.T + bias, target, weight=class_weight, …)`.

    Memory beyond inputs and gradients is bounded in both passes: logits are computed tile by tile.
    Gradients reach input, weight and bias. For half precision, sums and the loss are in float32.

    implementation: by default the fastest for the device, the inputs and the reduction.
    "chunked" is plain torch, for any device and dtype, and computes all logits again for the
    gradients. "dense" computes the gradients together with the loss, each logit once, for the mean
    or the sum. "triton" records the survivors in one pass over the logits and computes gradients
    from them alone; it works in float16, bfloat16 and float32 on CUDA devices.

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
        z_loss=z_loss,
    )
    inputs = LinearInputs(input, weight, target, bias, class_weight)
    check_linear(inputs, ignore_index=ignore_index)
    check_margin(margin, target.shape)
    summed = reduction in ("mean", "sum")
    name = implementation or fastest(inputs, options, summed=summed)
    if name == "dense":
        if not summed:
            raise ValueError("the implementation 'dense' needs the reduction 'mean' or 'sum'")
        rows, _ = dense.loss_sum(inputs, options)
    else:
        rows = _implementation(name, input.device).row_losses(inputs, options)
    return reduce_rows(rows, reduction, row_counts(target, class_weight, ignore_index=ignore_index))


def loss_sum_and_rows(inputs: LinearInputs, options: MarginLossOptions) -> tuple[Tensor, Tensor]:
    """Return the sum of the losses, and the loss of each position without a gradient.

    For training with statistics: one pass gives the gradients and the losses by position.

    returns: () and (positions,), 0 where the target is ignored
    """
    check_linear(inputs, ignore_index=options.ignore_index)
    check_margin(options.margin, inputs.target.shape)
    name = fastest(inputs, options, summed=True)
    if name == "dense":
        return dense.loss_sum(inputs, options)
    rows: Tensor = _implementation(name, inputs.input.device).row_losses(inputs, options)
    return rows.sum(), rows.detach()


def _implementation(name: str, device: torch.device) -> ModuleType:
    if name == "chunked":
        return chunked
    if name == "triton":
        if device.type != "cuda" and os.environ.get("TRITON_INTERPRET") != "1":
            raise ValueError(f"the implementation 'triton' needs tensors on a GPU, got {device}")
        with requires_extra("gpu", "the implementation triton needs triton"):
            from thresher.lm.losses.kernels import sparse  # noqa: PLC0415 (an extra)

        return sparse
    choices = ", ".join(map(repr, IMPLEMENTATIONS))
    raise ValueError(f"`implementation` must be {choices} or None, got {name!r}")
