"""The first layers of BERT with 8-bit linear layers, over rows that hold several texts each."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.encoders.bert import Bert, BertLayer, with_prefix
from thresher.encoders.int8_linear import (
    Int8Linear,
    Quantizer,
    Ranges,
    channel_divisors,
    input_ranges,
    split_channels,
)

# The names of BERT's linear layers, in their order, and in `ranges.safetensors` of saved models.
_SAVED_NAMES = {
    "qkv": "asked",
    "attention_output": "answered",
    "feed_forward_in": "widened",
    "feed_forward_out": "narrowed",
}
LINEAR_LAYERS = tuple(_SAVED_NAMES)


def bert_input_ranges(bert: Bert, run: Callable[[], object]) -> dict[str, Tensor]:
    """Return the `input_ranges` of BERT's linear layers, named as in saved models."""
    ranges = {}
    for name, value in input_ranges(bert, run).items():
        layer, _, linear = name.rpartition(".")
        ranges[f"{layer}.{_SAVED_NAMES[linear]}"] = value
    return ranges


class Int8Bert(nn.Module):
    """The first layers of `bert` with 8-bit linear layers; all other parameters are shared.

    ranges: those of the inputs of each linear layer, from `bert_input_ranges`
    max_weight: the largest integer of a weight; by default the largest that is exact on this CPU
    """

    def __init__(
        self, bert: Bert, ranges: Ranges, *, layers: int, max_weight: int | None = None
    ) -> None:
        super().__init__()
        self.embeddings = bert.embeddings
        self.layers = nn.ModuleList(
            Int8BertLayer(layer, with_prefix(ranges, f"layers.{number}."), max_weight=max_weight)
            for number, layer in enumerate(bert.layers[:layers])
            if isinstance(layer, BertLayer)
        )

    def forward(self, ids: Tensor, position: Tensor, text: Tensor) -> Tensor:
        """Return the hidden states of the last layer; tokens attend only to their own text.

        ids, position, text: (rows, tokens): token id, position in its text, number of its text
        returns: (rows, tokens, width)
        """
        x: Tensor = self.embeddings(functional.embedding(ids, self.embeddings.words), position)
        other_text = text[:, None, :, None] != text[:, None, None, :]
        attention_mask = torch.zeros(other_text.shape).masked_fill_(other_text, -torch.inf)
        for layer in self.layers:
            x = layer(x, attention_mask)
        return x


class Int8BertLayer(nn.Module):
    """`BertLayer` with 8-bit linear layers.

    GELU's result is quantized with one scale inside the product, so its few outlier channels
    cannot be divided; they are split over several columns instead.
    """

    def __init__(self, layer: BertLayer, ranges: Ranges, *, max_weight: int | None = None) -> None:
        super().__init__()
        _check_ranges(layer, ranges)
        linear = partial(Int8Linear, max_weight=max_weight)
        self.heads = layer.heads
        self.attention_norm, self.output_norm = layer.attention_norm, layer.output_norm
        self._quantize_qkv = _quantizer(ranges, "qkv")
        self._quantize_attention = _quantizer(ranges, "attention_output")
        self._quantize_feed_forward_in = _quantizer(ranges, "feed_forward_in")
        self._qkv = linear(layer.qkv.weight, layer.qkv.bias, self._quantize_qkv)
        self._attention_output = linear(
            layer.attention_output.weight, layer.attention_output.bias, self._quantize_attention
        )
        gelu_ranges = ranges[_SAVED_NAMES["feed_forward_out"]]
        channel, start, limit = split_channels(gelu_ranges)
        self._quantize_gelu = Quantizer(gelu_ranges[:, channel].clamp(max=limit))
        first, second = layer.feed_forward_in, layer.feed_forward_out
        self._feed_forward_in = linear(
            first.weight[channel], first.bias[channel] - start, self._quantize_feed_forward_in
        )
        self._feed_forward_out = linear(second.weight[:, channel], second.bias, self._quantize_gelu)

    def forward(self, x: Tensor, attention_mask: Tensor) -> Tensor:
        """Return the hidden states after this layer.

        x: (rows, tokens, width), overwritten   attention_mask: (rows, 1, tokens, tokens), 0 or −∞
        """
        qkv = self._qkv(self._quantize_qkv(x)).view(*x.shape[:2], 3, self.heads, -1)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(query, key, value, attention_mask)
        attended = self._quantize_attention(attended.transpose(1, 2).flatten(2))
        a = self.attention_norm(self._attention_output.add_to(x, attended))
        inner = self._feed_forward_in.gelu(self._quantize_feed_forward_in(a), self._quantize_gelu)
        return self.output_norm(self._feed_forward_out.add_to(a, inner))  # type: ignore[no-any-return]


def _check_ranges(layer: BertLayer, ranges: Ranges) -> None:
    for name, saved_name in _SAVED_NAMES.items():
        needed = (2, getattr(layer, name).in_features)
        if tuple(ranges[saved_name].shape) != needed:
            given = tuple(ranges[saved_name].shape)
            raise ValueError(f"the range {saved_name} has the shape {given}, not {needed}")


def _quantizer(ranges: Ranges, name: str) -> Quantizer:
    return Quantizer(ranges[_SAVED_NAMES[name]], weight_divisors(ranges, name))


def weight_divisors(ranges: Ranges, name: str) -> Tensor:
    """Return what the input channels of a linear layer are divided by: (channels,).

    ranges: those of one layer of BERT   name: one of `LINEAR_LAYERS`
    """
    layer_ranges = ranges[_SAVED_NAMES[name]]
    if name == "feed_forward_out":
        return torch.ones(layer_ranges.shape[1])
    return channel_divisors(layer_ranges)
