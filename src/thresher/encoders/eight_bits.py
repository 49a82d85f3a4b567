"""Linear layers that multiply in eight bits, about three times as fast on a CPU.

    y = W x + b  ≈  Wᵢ (xᵢ − z) · scales + b        Wᵢ, xᵢ: integers of eight bits

A row of W has a scale of its own. x has one scale and one zero z, told beforehand from the range of
its channels, so that the result for a word does not depend on what else is in the batch. A few
channels of a transformer are ten times as large as the others and would cost them their digits:
those beyond the 98th percentile are divided by what makes them no larger, and the columns of W
multiplied by it.
"""

import copy
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache

import torch
from torch import Tensor, nn
from torch.backends import quantized

Ranges = Mapping[str, Tensor]  # of each linear layer, the least and largest inputs: (2, channels)

_ENGINE = "fbgemm"  # the others lose bits, or stop where a processor is not what it seems
_ORDINARY = 0.98  # the share of channels that is not too large
_WORTH_IT = 2.0  # how much too large the largest channel must be for any to be divided
_LEVELS, _MOST = 255, 127


class EightBitLinear(nn.Module):
    """A linear layer in eight bits.

    ranges: (2, channels), the least and largest of each input; what is beyond is cut off
    """

    def __init__(self, linear: nn.Linear, ranges: Tensor) -> None:
        super().__init__()
        largest = ranges.float().abs().amax(0).clamp(min=1e-6)
        factor = (largest / largest.quantile(_ORDINARY)).clamp(min=1.0)
        if factor.max() < _WORTH_IT:
            factor = torch.ones_like(factor)
        low, high = (ranges.float() / factor).aminmax()
        self._scale = max(float(high.clamp(min=0) - low.clamp(max=0)) / _LEVELS, 1e-12)
        self._zero = round(-float(low.clamp(max=0)) / self._scale)
        self._large = (factor > 1).nonzero()[:, 0]
        self._shrink = 1 / factor[self._large]
        with _engine():
            self._packed = torch.ops.quantized.linear_prepack(
                _rows_in_eight_bits(linear.weight.detach() * factor), linear.bias
            )

    def forward(self, x: Tensor) -> Tensor:
        """x: (…, channels)   returns: (…, outputs)"""
        if not len(self._large):
            return self._multiplied(x)
        # The few channels that are too large are divided in place and put back: to go over all
        # of them once more would cost a tenth of the time.
        large = x[..., self._large]
        x[..., self._large] = large * self._shrink
        y = self._multiplied(x)
        x[..., self._large] = large
        return y

    def _multiplied(self, x: Tensor) -> Tensor:
        y: Tensor = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32(
            x, self._scale, self._zero, self._packed
        )
        return y


def _rows_in_eight_bits(weight: Tensor) -> Tensor:
    scales = (weight.abs().amax(1).double() / _MOST).clamp(min=1e-12)
    zeros = torch.zeros(len(weight), dtype=torch.long)
    return torch.quantize_per_channel(weight, scales, zeros, 0, torch.qint8)


@contextmanager
def _engine() -> Iterator[None]:
    """Weights are packed for the engine that is set; afterwards it is as it was.

    Torch says since 2.13 that it will do without such tensors some day; until then they work, and
    `eight_bits_work` finds out when they no longer do.
    """
    before = quantized.engine
    quantized.engine = _ENGINE
    try:
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            yield
    finally:
        quantized.engine = before


def input_ranges(module: nn.Module, run: Callable[[], object]) -> dict[str, Tensor]:
    """The range of each input of every linear layer of the module while `run` runs it."""
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
    return seen


def in_eight_bits(module: nn.Module, ranges: Ranges) -> nn.Module:
    """A copy of the module whose linear layers compute in eight bits, where a range is known.

    All other parameters are those of the original.
    """
    twin = copy.deepcopy(module, {id(each): each for each in module.parameters()})
    for name, layer in list(_linear_layers(twin)):
        if name in ranges:
            parent, _, own = name.rpartition(".")
            setattr(twin.get_submodule(parent), own, EightBitLinear(layer, ranges[name]))
    return twin


def _linear_layers(module: nn.Module) -> Iterator[tuple[str, nn.Linear]]:
    for name, layer in module.named_modules():
        if isinstance(layer, nn.Linear):
            yield name, layer


@cache
def eight_bits_work() -> bool:
    """Whether this processor adds such products without losing any: tried, not looked up.

    Older ones add two products in sixteen bits, which the largest do not fit into.
    """
    linear = nn.Linear(64, 1)
    ranges = torch.stack([torch.zeros(64), torch.ones(64)])
    with torch.inference_mode():
        linear.weight.fill_(1.0)
        linear.bias.zero_()
        try:
            sum_of_ones = EightBitLinear(linear, ranges)(torch.ones(1, 64))
        except (RuntimeError, AttributeError):  # no such engine here, or no such operation
            return False
    return bool((sum_of_ones - 64).abs() < 1e-2)
