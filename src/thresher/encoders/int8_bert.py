"""The first layers of BERT in eight bits, over rows that hold several texts each."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.encoders.bert import Bert, BertLayer, within
from thresher.encoders.int8_linear import EightBitLinear, Integers, Ranges, factors, pieces


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

    GELU is written as integers of one scale at once, so the few channels between W₁ and W₂ that are
    too large cannot be divided on the way: they are written in pieces.
    """

    def __init__(self, exact: BertLayer, ranges: Ranges) -> None:
        super().__init__()
        self.heads = exact.heads
        self.first_norm, self.second_norm = exact.first_norm, exact.second_norm
        self._asking, self._answering, self._widening = (
            Integers(ranges[name], factors(ranges[name]))
            for name in ("asked", "answered", "widened")
        )
        self._asked = EightBitLinear(exact.asked.weight, exact.asked.bias, self._asking)
        self._answered = EightBitLinear(exact.answered.weight, exact.answered.bias, self._answering)
        channel, start, most = pieces(ranges["narrowed"])
        self._narrowing = Integers(ranges["narrowed"][:, channel].clamp(max=most))
        wide, narrow = exact.widened, exact.narrowed
        self._widened = EightBitLinear(
            wide.weight[channel], wide.bias[channel] - start, self._widening
        )
        self._narrowed = EightBitLinear(narrow.weight[:, channel], narrow.bias, self._narrowing)

    def forward(self, x: Tensor, hidden: Tensor) -> Tensor:
        """x: (rows, tokens, width), written over   hidden: (rows, 1, tokens, tokens), −∞ or 0"""
        asked = self._asked(self._asking(x)).view(*x.shape[:2], 3, self.heads, -1)
        query, key, value = asked.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=hidden)
        answering = self._answering(mixed.transpose(1, 2).flatten(2))
        a = self.first_norm(self._answered.added_to(x, answering))
        widened = self._widened.gelu(self._widening(a), self._narrowing)
        return self.second_norm(self._narrowed.added_to(a, widened))  # type: ignore[no-any-return]
