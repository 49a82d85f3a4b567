"""The first layers of BERT in eight bits, over rows that hold several texts each."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.encoders.bert import Bert, BertLayer, within
from thresher.encoders.eight_bits import EightBitLinear, Integers, Ranges, too_large


class EightBitBert(nn.Module):
    """The first layers of `exact`, linear ones in eight bits, all other parameters shared.

    ranges: by name of a linear layer of `exact`, what it is given
    """

    def __init__(self, exact: Bert, ranges: Ranges, *, layers: int) -> None:
        super().__init__()
        self.embeddings = exact.embeddings
        self.layers = nn.ModuleList(
            EightBitBertLayer(layer, within(ranges, f"layers.{number}."))
            for number, layer in enumerate(exact.layers[:layers])
            if isinstance(layer, BertLayer)
        )

    def forward(self, ids: Tensor, place: Tensor, text: Tensor) -> Tensor:
        """The vectors of the last layer, where every token sees those of its own text.

        ids, place, text: (rows, tokens): what it is, where it is in its text, which text it is of
        """
        x: Tensor = self.embeddings(functional.embedding(ids, self.embeddings.words), place)
        other = text[:, None, :, None] != text[:, None, None, :]
        hidden = torch.zeros(other.shape).masked_fill_(other, -torch.inf)
        for layer in self.layers:
            x = layer(x, hidden)
        return x


class EightBitBertLayer(nn.Module):
    """`BertLayer` with linear layers in eight bits.

    The few channels between W₁ and W₂ that are too large have products of their own: GELU is
    written as integers of one scale at once, so they cannot be divided on the way.
    """

    def __init__(self, exact: BertLayer, ranges: Ranges) -> None:
        super().__init__()
        self.heads = exact.heads
        self.first_norm, self.second_norm = exact.first_norm, exact.second_norm
        self._asking, self._answering, self._widening = (
            Integers(ranges[name], too_large(ranges[name]))
            for name in ("asked", "answered", "widened")
        )
        self._asked = EightBitLinear(exact.asked.weight, exact.asked.bias, self._asking)
        self._answered = EightBitLinear(exact.answered.weight, exact.answered.bias, self._answering)
        large = too_large(ranges["narrowed"]) > 1
        self._between = [
            self._feed_forward(exact, ranges["narrowed"], channels, bias=bias)
            for channels, bias in ((~large, exact.narrowed.bias), (large, None))
            if channels.any()
        ]

    def _feed_forward(
        self, exact: BertLayer, ranges: Tensor, channels: Tensor, *, bias: Tensor | None
    ) -> tuple[EightBitLinear, Integers, EightBitLinear]:
        """What leads to some of the channels between W₁ and W₂, how they are written, W₂."""
        narrowing = Integers(ranges[:, channels])
        wide, narrow = exact.widened, exact.narrowed
        return (
            EightBitLinear(wide.weight[channels], wide.bias[channels], self._widening),
            narrowing,
            EightBitLinear(narrow.weight[:, channels], bias, narrowing),
        )

    def forward(self, x: Tensor, hidden: Tensor) -> Tensor:
        """x: (rows, tokens, width), written over   hidden: (rows, 1, tokens, tokens), −∞ or 0"""
        asked = self._asked(self._asking(x)).view(*x.shape[:2], 3, self.heads, -1)
        query, key, value = asked.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=hidden)
        answering = self._answering(mixed.transpose(1, 2).flatten(2))
        a = self.first_norm(self._answered.added_to(x, answering))
        widening = self._widening(a)
        for widened, narrowing, narrowed in self._between:
            a = narrowed.added_to(a, widened.gelu(widening, narrowing))
        return self.second_norm(a)  # type: ignore[no-any-return]
