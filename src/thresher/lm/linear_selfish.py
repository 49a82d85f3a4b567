"""The margin loss from hidden states, without ever holding the logits of a whole vocabulary."""

from torch import Tensor

from thresher.lm.kernels import chunked
from thresher.lm.logit_scale import check_scale
from thresher.lm.reductions import reduce_rows, row_counts
from thresher.lm.survivors import check_margin
from thresher.lm.targets import check_label_smoothing, check_targets


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
) -> Tensor:
    """Equal to `selfish_cross_entropy(input @ weight.T + bias, target, weight=class_weight, …)`.

    Memory beyond inputs and gradients is bounded in both passes, whatever the vocabulary: logits
    are made a tile at a time, and made again for the gradients of input, weight and bias. For half
    precision the products and sums are in float32, and so is the loss.

    input: (positions, width)   weight: (vocabulary, width)   bias, class_weight: (vocabulary,)
    target: (positions,)   margin: a number, or one for each position
    returns: () or, with `reduction="none"`, (positions,)
    """
    _check_shapes(input, weight, target, bias, class_weight)
    check_scale(temperature, softcap)
    check_margin(margin, target.shape)
    check_targets(target, weight.shape[0], ignore_index=ignore_index)
    check_label_smoothing(label_smoothing)
    rows = chunked.row_losses(
        input,
        weight,
        target,
        margin=margin,
        bias=bias,
        class_weight=class_weight,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        temperature=temperature,
        softcap=softcap,
    )
    return reduce_rows(rows, reduction, row_counts(target, class_weight, ignore_index=ignore_index))


def _check_shapes(
    input: Tensor,
    weight: Tensor,
    target: Tensor,
    bias: Tensor | None,
    class_weight: Tensor | None,
) -> None:
    if input.dim() != 2 or weight.dim() != 2 or input.shape[1] != weight.shape[1]:
        shapes = f"{tuple(input.shape)} and {tuple(weight.shape)}"
        rule = "input must be (positions, width) and weight (vocabulary, width)"
        raise ValueError(f"{rule}, got {shapes}")
    if target.shape != input.shape[:1]:
        rule = f"target must be ({input.shape[0]},), one for each position of input"
        raise ValueError(f"{rule}, got {tuple(target.shape)}")
    if target.is_floating_point():
        raise TypeError(f"target must hold class indices (torch.int64), got {target.dtype}")
    for name, values in (("bias", bias), ("class_weight", class_weight)):
        if values is not None and values.shape != weight.shape[:1]:
            rule = f"{name} must be ({weight.shape[0]},), one for each token of weight"
            raise ValueError(f"{rule}, got {tuple(values.shape)}")
