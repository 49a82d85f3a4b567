"""Linear layers that multiply in eight bits, four times as fast on a CPU.

    y = W x + b  ≈  Wᵢ (xᵢ − z) · scales + b        Wᵢ, xᵢ: integers of eight bits

A row of W has a scale of its own. x has one scale and one zero z, told beforehand from the range of
its channels, so that the result for a word does not depend on what else is in the batch. A few
channels of a transformer are ten times as large as the others and would cost them their digits:
whoever writes the integers divides by `factors`, or writes such a channel in `pieces`.
"""

from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor, nn

Ranges = Mapping[str, Tensor]  # of each linear layer, the least and largest inputs: (2, channels)

_ORDINARY = 0.98  # the share of channels that is not too large to be written like the others
_WHOLE = 0.995  # the share of GELU's channels that is written in one piece
_STRAIGHT = 3.0  # from here on GELU(y) is y, to four thousandths
_MOST_PIECES = 8  # that a channel is written in
_LEVELS, _MOST = 255, 127
_MANTISSA = 2.0**23  # a float as large as this has a whole number in its last bits


class Integers:
    """Channels of known ranges as integers: i = round(x / (factor · scale)) + zero, from 0 to 255.

    ranges: (2, channels), the least and largest of each; what is beyond is cut off
    factor: (channels,), how much more than the others each is divided by
    """

    def __init__(self, ranges: Tensor, factor: Tensor | None = None) -> None:
        self.factor = torch.ones(ranges.shape[1]) if factor is None else factor
        low, high = (ranges.float() / self.factor).aminmax()
        low, high = low.clamp(max=0), high.clamp(min=0)
        self.scale = max(float(high - low) / _LEVELS, 1e-12)
        self.zero = round(-float(low) / self.scale)
        self._slope = 1 / (self.factor * self.scale)
        self._offset = torch.tensor(_MANTISSA + self.zero)

    def __call__(self, x: Tensor) -> Tensor:
        """Rounded by a sum whose last bit is worth one, which is then the integer.

        x: (…, channels), single precision   returns: the same shape, bytes
        """
        moved = torch.addcmul(self._offset, x, self._slope)
        return moved.clamp_(_MANTISSA, _MANTISSA + _LEVELS).view(torch.int32).to(torch.uint8)


class EightBitLinear:
    """A linear layer of what `inputs` writes.

    weight: (outputs, channels)   bias: (outputs,)
    """

    def __init__(self, weight: Tensor, bias: Tensor | None, inputs: Integers) -> None:
        weight = weight.detach() * inputs.factor
        scales = (weight.abs().amax(1) / _MOST).clamp(min=1e-12)
        rows = (weight / scales[:, None]).round().to(torch.int8)
        zeros = torch.zeros(len(weight), dtype=torch.long)
        packed = torch.ops.onednn.qlinear_prepack(rows, None)
        self._inputs = inputs.scale, inputs.zero
        self._weight = packed, scales, zeros
        self._bias = bias

    def __call__(self, integers: Tensor) -> Tensor:
        """y.   integers: (…, channels)   returns: (…, outputs), single precision"""
        return self._product(integers, 1.0, 0, torch.float32, "none")

    def gelu(self, integers: Tensor, outputs: Integers) -> Tensor:
        """GELU(y) as integers; no channel of `outputs` has a factor of its own."""
        return self._product(integers, outputs.scale, outputs.zero, torch.uint8, "gelu")

    def added_to(self, x: Tensor, integers: Tensor) -> Tensor:
        """x + y, in the place of x."""
        layer = (integers, *self._inputs, *self._weight, x, self._bias)
        as_it_is = (1.0, 0)  # a scale and a zero
        y: Tensor = torch.ops.onednn.qlinear_pointwise.binary(
            *layer, *as_it_is, torch.float32, *as_it_is, "sum", 1.0, "none", [], ""
        )
        return y

    def _product(
        self, integers: Tensor, scale: float, zero: int, dtype: torch.dtype, function: str
    ) -> Tensor:
        layer = (integers, *self._inputs, *self._weight, self._bias)
        y: Tensor = torch.ops.onednn.qlinear_pointwise(
            *layer, scale, zero, dtype, function, [], "none"
        )
        return y


def factors(ranges: Tensor) -> Tensor:
    """How much more than ordinary ones channels are divided by: (channels,)

    A channel that gets larger than the 98th percentile, by as much as it does; a smaller one by the
    square root of that, so that it gains digits and its weights do not lose too many.

    ranges: (2, channels)
    """
    largest = ranges.float().abs().amax(0).clamp(min=1e-6)
    size = largest / largest.quantile(_ORDINARY)
    return torch.where(size > 1, size, size.sqrt())


def pieces(ranges: Tensor) -> tuple[Tensor, Tensor, float]:
    """What GELU's channels are written in, all with one scale: channel, start, most.

        GELU(y) ≈ Σₖ min(GELU(y − k · most), most)   for k = 0, 1, … while k · most < its largest

    Equal where GELU(y) = y or y is far from each start k · most; beside one, less by at most .18.

    ranges: (2, channels), of GELU(y)   channel, start: (pieces,)
    """
    largest = ranges[1].float()
    most = max(float(largest.quantile(_WHOLE)), float(largest.max()) / _MOST_PIECES, _STRAIGHT)
    count = (largest / most).ceil().clamp(min=1).long()
    channel = torch.repeat_interleave(count)
    number = torch.arange(len(channel)) - (count.cumsum(0) - count)[channel]
    return channel, number * most, most


def input_ranges(module: nn.Module, run: Callable[[], object]) -> dict[str, Tensor]:
    """The range of each input of every linear layer of the module while `run` runs it, on a CPU."""
    seen: dict[str, Tensor] = {}

    def look(name: str, x: Tensor) -> None:
        low, high = x.flatten(0, -2).aminmax(dim=0)
        if name in seen:
            low, high = torch.minimum(low, seen[name][0]), torch.maximum(high, seen[name][1])
        seen[name] = torch.stack([low, high])

    hooks = [
        layer.register_forward_pre_hook(lambda _, inputs, name=name: look(name, inputs[0]))
        for name, layer in _linear_layers(module)
    ]
    try:
        run()
    finally:
        for hook in hooks:
            hook.remove()
    return {name: ranges.cpu() for name, ranges in seen.items()}


def _linear_layers(module: nn.Module) -> Iterator[tuple[str, nn.Linear]]:
    for name, layer in module.named_modules():
        if isinstance(layer, nn.Linear):
            yield name, layer
