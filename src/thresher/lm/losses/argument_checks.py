"""Whether hidden states, the weight of an output layer and targets go together."""

from torch import Tensor

from thresher.lm.losses.targets import check_targets


def check_linear(
    input: Tensor,
    weight: Tensor,
    target: Tensor,
    bias: Tensor | None = None,
    class_weight: Tensor | None = None,
    *,
    ignore_index: int,
    wait: bool = False,
) -> None:
    """Raise unless these go together, as the docstring of `linear_selfish_cross_entropy` says.

    wait: look at targets on any device, not on the CPU alone; the host waits for it
    """
    if not (input.is_floating_point() and weight.is_floating_point()):
        dtypes = f"{input.dtype} and {weight.dtype}"
        raise TypeError(f"input and weight must hold floating-point numbers, got {dtypes}")
    _check_shapes(input, weight, target, {"bias": bias, "class_weight": class_weight})
    check_targets(target, weight.shape[0], ignore_index=ignore_index, wait=wait)


def _check_shapes(
    input: Tensor, weight: Tensor, target: Tensor, of_tokens: dict[str, Tensor | None]
) -> None:
    if input.dim() != 2 or weight.dim() != 2 or input.shape[1] != weight.shape[1]:
        shapes = f"{tuple(input.shape)} and {tuple(weight.shape)}"
        rule = "input must be (positions, width) and weight (vocabulary, width)"
        raise ValueError(f"{rule}, got {shapes}")
    if not weight.numel():
        raise ValueError(f"weight must not be empty, got {tuple(weight.shape)}")
    if target.shape != input.shape[:1]:
        rule = f"target must be ({input.shape[0]},), one for each position of input"
        raise ValueError(f"{rule}, got {tuple(target.shape)}")
    for name, values in of_tokens.items():
        if values is not None and values.shape != weight.shape[:1]:
            rule = f"{name} must be ({weight.shape[0]},), one for each token of weight"
            raise ValueError(f"{rule}, got {tuple(values.shape)}")
