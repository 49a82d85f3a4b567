"""Linear layers that multiply 8-bit integers, four times as fast on a CPU.

    y = W x + b  ≈  Wᵢ (xᵢ − z) · scales + b        Wᵢ, xᵢ: 8-bit integers

Each row of W has its own scale. x has one scale and one zero point z. Both are computed beforehand
from the ranges of its channels (static quantization), so the result for a word does not depend on
the rest of the batch. A few channels of a transformer are ten times larger than the others, which
would then lose precision. Such a channel is divided by one of `channel_divisors` before
quantization, or its values are split over several columns by `split_channels`.

CPUs with VNNI instructions (most with AVX-512, some with AVX2) add products in 32 bits, and weights
are integers from −126 to 126. Older CPUs add two products in 16 bits first, which is exact only for
weights from −63 to 63, since 2 · 255 · 63 < 2¹⁵. `int8_max_weight` finds out by computing products.
Because 126 is twice 63, weights that were rounded to integers from −63 to 63 times a scale before
they were saved, as those of the built-in English models were, are exact on all these CPUs.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.hardware_support import result_of_fork

# Of each linear layer, the minimum and maximum of each input channel: (2, channels)
Ranges = Mapping[str, Tensor]

_ORDINARY_QUANTILE = 0.98  # channels with larger values than this quantile are outliers
_UNSPLIT_QUANTILE = 0.995  # of GELU's channels, those below this quantile stay in one column
_GELU_LINEAR_FROM = 3.0  # for y above this, GELU(y) = y to four thousandths
_MAX_COLUMNS = 8  # that one channel is split over
_MAX_UINT8 = 255
MAX_WEIGHTS = (126, 63)  # with sums of products in 32 bits, and with pairs of them in 16 bits
_MANTISSA = 2.0**23  # the last bit of the mantissa of a float32 of this size is worth 1


class Quantizer:
    """Maps channels of known ranges to integers from 0 to 255.

        i = round(x / (divisor · scale)) + zero_point

    ranges: (2, channels), the minimum and maximum of each channel; values beyond are clipped
    divisors: (channels,), what each channel is divided by, besides the common scale
    """

    def __init__(self, ranges: Tensor, divisors: Tensor | None = None) -> None:
        self.divisors = torch.ones(ranges.shape[1]) if divisors is None else divisors
        low, high = (ranges.float() / self.divisors).aminmax()
        low, high = low.clamp(max=0), high.clamp(min=0)
        self.scale = max(float(high - low) / _MAX_UINT8, 1e-12)
        self.zero_point = round(-float(low) / self.scale)
        self._slope = 1 / (self.divisors * self.scale)
        self._offset = torch.tensor(_MANTISSA + self.zero_point)

    def __call__(self, x: Tensor) -> Tensor:
        """Quantize float32 values to uint8.

        Adding 2²³ rounds to a whole number, which the last bits of the float then hold.

        x: (…, channels), float32   returns: same shape, uint8
        """
        return self._rounded(torch.addcmul(self._offset, x, self._slope))

    def normalized(self, x: Tensor, *, epsilon: float) -> Tensor:
        """Return `self(layer_norm(x))`, with slope and offset as the parameters of the norm.

        x: (…, channels), float32   returns: same shape, uint8
        """
        offsets = self._offset.expand_as(self._slope).contiguous()
        shifted = functional.layer_norm(x, self._slope.shape, self._slope, offsets, epsilon)
        return self._rounded(shifted)

    @staticmethod
    def _rounded(shifted: Tensor) -> Tensor:
        """Return the whole numbers in the mantissa of 2²³ + number, from 0 to 255."""
        return shifted.clamp_(_MANTISSA, _MANTISSA + _MAX_UINT8).view(torch.int32).to(torch.uint8)


class Int8Linear:
    """A linear layer whose inputs were quantized by `quantizer`.

    weight: (outputs, channels)   bias: (outputs,)
    max_weight: the largest integer of a weight; by default the largest that is exact on this CPU
    """

    def __init__(
        self,
        weight: Tensor,
        bias: Tensor | None,
        quantizer: Quantizer,
        *,
        max_weight: int | None = None,
    ) -> None:
        max_weight = max_weight or int8_max_weight() or MAX_WEIGHTS[0]
        weight = weight.detach() * quantizer.divisors
        scales = (weight.abs().amax(1) / max_weight).clamp(min=1e-12)
        rows = (weight / scales[:, None]).round().to(torch.int8)
        zero_points = torch.zeros(len(weight), dtype=torch.long)
        packed = torch.ops.onednn.qlinear_prepack(rows, None)
        self._input_scale = quantizer.scale, quantizer.zero_point
        self._weight = packed, scales, zero_points
        self._bias = bias

    def __call__(self, quantized: Tensor) -> Tensor:
        """Return y.   quantized: (…, channels), uint8   returns: (…, outputs), float32"""
        return self._linear(quantized, 1.0, 0, torch.float32, "none")

    def gelu(self, quantized: Tensor, outputs: Quantizer) -> Tensor:
        """Return GELU(y), quantized by `outputs`, whose divisors must all be 1."""
        return self._linear(quantized, outputs.scale, outputs.zero_point, torch.uint8, "gelu")

    def add_to(self, x: Tensor, quantized: Tensor) -> Tensor:
        """Return x + y; x is overwritten."""
        layer = (quantized, *self._input_scale, *self._weight, x, self._bias)
        unscaled = (1.0, 0)  # scale and zero point
        y: Tensor = torch.ops.onednn.qlinear_pointwise.binary(
            *layer, *unscaled, torch.float32, *unscaled, "sum", 1.0, "none", [], ""
        )
        return y

    def _linear(
        self, quantized: Tensor, scale: float, zero_point: int, dtype: torch.dtype, activation: str
    ) -> Tensor:
        layer = (quantized, *self._input_scale, *self._weight, self._bias)
        y: Tensor = torch.ops.onednn.qlinear_pointwise(
            *layer, scale, zero_point, dtype, activation, [], "none"
        )
        return y


def channel_divisors(ranges: Tensor) -> Tensor:
    """Return divisors of the channels, so that all channels use the 8 bits well: (channels,).

    A channel above the 98th percentile is divided by its ratio to it. A channel below is divided by
    the square root of this ratio: it gains precision, and its weights do not lose too much.

    ranges: (2, channels)
    """
    largest = ranges.float().abs().amax(0).clamp(min=1e-6)
    ratio = largest / largest.quantile(_ORDINARY_QUANTILE)
    return torch.where(ratio > 1, ratio, ratio.sqrt())


def split_channels(ranges: Tensor) -> tuple[Tensor, Tensor, float]:
    """Split GELU's largest channels over several columns, so that all columns share one scale.

        GELU(y) ≈ Σₖ min(GELU(y − k · limit), limit)   for k = 0, 1, … while k · limit < its maximum

    Exact where GELU(y) = y or y is far from each start k · limit; near a start up to .18 too low.

    ranges: (2, channels), of GELU(y)
    returns: the channel of each column, (columns,), its start k · limit, (columns,), and the limit
    """
    largest = ranges[1].float()
    limit = max(
        float(largest.quantile(_UNSPLIT_QUANTILE)),
        float(largest.max()) / _MAX_COLUMNS,
        _GELU_LINEAR_FROM,
    )
    count = (largest / limit).ceil().clamp(min=1).long()
    channel = torch.repeat_interleave(count)
    number = torch.arange(len(channel)) - (count.cumsum(0) - count)[channel]
    return channel, number * limit, limit


def input_ranges(module: nn.Module, run: Callable[[], object]) -> dict[str, Tensor]:
    """Call `run` and record the input range of every linear layer of the module.

    run: calls the module on sample inputs
    returns: by layer name the minimum and maximum of each channel, (2, channels), on the CPU
    """
    ranges: dict[str, Tensor] = {}

    def record(name: str, x: Tensor) -> None:
        low, high = x.flatten(0, -2).aminmax(dim=0)
        if name in ranges:
            low, high = torch.minimum(low, ranges[name][0]), torch.maximum(high, ranges[name][1])
        ranges[name] = torch.stack([low, high])

    hooks = [
        layer.register_forward_pre_hook(lambda _, inputs, name=name: record(name, inputs[0]))
        for name, layer in _linear_layers(module)
    ]
    try:
        run()
    finally:
        for hook in hooks:
            hook.remove()
    return {name: each.cpu() for name, each in ranges.items()}


def _linear_layers(module: nn.Module) -> Iterator[tuple[str, nn.Linear]]:
    for name, layer in module.named_modules():
        if isinstance(layer, nn.Linear):
            yield name, layer


_WITHOUT_AMX = {"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_VNNI"}


def int8_supported() -> bool:
    """Return True if 8-bit matrix products are exact on this CPU, with large or small weights."""
    return int8_max_weight() is not None


@cache
def int8_max_weight() -> int | None:
    """Return the largest integer weight whose products are exact on this CPU: 126, 63 or None.

    The trial computes products in a forked process. If it crashes, it is repeated with oneDNN
    limited to AVX-512 VNNI, because some virtual machines advertise AMX but do not support it. The
    limit then stays set for this process. On other processors than x86 the same operations are
    tried; if torch has them there, they are used.
    """
    max_weight = result_of_fork(exact_max_weight)
    if not max_weight and hasattr(os, "fork"):
        for name, value in _WITHOUT_AMX.items():
            os.environ.setdefault(name, value)
        max_weight = result_of_fork(exact_max_weight)
    return max_weight or None


def exact_max_weight() -> int:
    """Return the largest of `MAX_WEIGHTS` whose products are exact in this process, else 0."""
    return next((each for each in MAX_WEIGHTS if int8_products_exact(each)), 0)


def int8_products_exact(max_weight: int = MAX_WEIGHTS[0]) -> bool:
    """Return True if products of the largest 8-bit integers are summed without overflow."""
    quantize = Quantizer(torch.tensor([[0.0], [1.0]]).expand(2, 128))
    x, ones = torch.ones(64, 128), torch.ones(64, 32)
    try:
        layer = Int8Linear(torch.ones(32, 128), torch.zeros(32), quantize, max_weight=max_weight)
        sums = [
            layer(quantize(x)),
            layer.add_to(ones, quantize(x)) - 1,
            layer.gelu(quantize(x), Quantizer(torch.tensor([[0.0], [128.0]]))) * (128 / 255),
        ]
    except (RuntimeError, AttributeError, TypeError):  # torch has no such operation here
        return False
    return all(bool((each - 128).abs().max() < 1e-2) for each in sums)
