"""BERT from its configuration and its weights, with no other library.

    x⁰ = LayerNorm(word + kind + place)
    a = LayerNorm(x + Attention(x)),  xˡ = LayerNorm(a + W₂ GELU(W₁ a))

Every token is of the first kind, as in a text that is no pair. The sentence vector that nobody asks
for is left out; query, key and value are one product, and sums are made in place.
"""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

Weights = Mapping[str, Tensor]  # as `transformers` names them

_ASKED = ("query", "key", "value")
_FORMER_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}


def is_plain_bert(config: Mapping[str, Any]) -> bool:
    """Whether `Bert` computes what a model of that configuration does."""
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act", "gelu") == "gelu"
        and config.get("position_embedding_type") in (None, "absolute")
        and not config.get("is_decoder")
        and not config.get("quantization_config")
    )


class Bert(nn.Module):
    """Equal to a `BertModel` of `transformers`, frozen, in single precision.

    It is given the word embeddings of the tokens, `words[ids]`, so that they can be mixed before.
    """

    def __init__(self, config: Mapping[str, Any], weights: Weights) -> None:
        super().__init__()
        own = {_name_today(name): value.float() for name, value in weights.items()}
        heads, epsilon = config["num_attention_heads"], config.get("layer_norm_eps", 1e-12)
        self.embeddings = BertEmbeddings(within(own, "embeddings."), epsilon=epsilon)
        self.layers = nn.ModuleList(
            BertLayer(within(own, f"encoder.layer.{number}."), heads=heads, epsilon=epsilon)
            for number in range(config["num_hidden_layers"])
        )

    @property
    def words(self) -> Tensor:
        """The word embeddings: (vocabulary, width)."""
        return self.embeddings.words

    @property
    def width(self) -> int:
        """The length of a vector."""
        return self.words.shape[1]

    @property
    def positions(self) -> int:
        """How many tokens it can tell the places of."""
        return len(self.embeddings.places)

    @property
    def depth(self) -> int:
        """How many layers there are."""
        return len(self.layers)

    def forward(self, embedded: Tensor, mask: Tensor, *, layers: int) -> Tensor:
        """The vectors of a layer; those above it are not computed.

        embedded: (windows, tokens, width)   mask: (windows, tokens)   returns: as `embedded`
        """
        x: Tensor = self.embeddings(embedded)
        visible = mask.bool()[:, None, None, :]
        for layer in self.layers[:layers]:
            x = layer(x, visible)
        return x

    def attention(self, embedded: Tensor, mask: Tensor, *, layers: int) -> list[Tensor]:
        """What tokens attend to in each of the first layers: (windows, heads, tokens, tokens)."""
        x: Tensor = self.embeddings(embedded)
        visible = mask.bool()[:, None, None, :]
        shares = []
        for layer in self.layers[:layers]:
            assert isinstance(layer, BertLayer)
            shares.append(layer.shares(x, visible))
            x = layer(x, visible)
        return shares


class BertEmbeddings(nn.Module):
    """What the first layer is given, of the word embeddings of tokens and of their places."""

    def __init__(self, weights: Weights, *, epsilon: float) -> None:
        super().__init__()
        self.words = _frozen(weights["word_embeddings.weight"])
        kind = weights["token_type_embeddings.weight"][0]
        self.places = _frozen(weights["position_embeddings.weight"] + kind)  # always added together
        self.norm = _norm(weights, "LayerNorm", epsilon)

    def forward(self, embedded: Tensor, place: Tensor | None = None) -> Tensor:
        """embedded: (windows, tokens, width)   place: (windows, tokens), by default in order"""
        if place is None:
            placed = self.places[: embedded.shape[1]]
        else:
            placed = functional.embedding(place, self.places)
        return self.norm(embedded + placed)  # type: ignore[no-any-return]


class BertLayer(nn.Module):
    """x → a = LayerNorm(x + Attention(x)) → LayerNorm(a + W₂ GELU(W₁ a))."""

    def __init__(self, weights: Weights, *, heads: int, epsilon: float) -> None:
        super().__init__()
        self.heads = heads
        self.asked = _linear(weights, *(f"attention.self.{each}" for each in _ASKED))
        self.answered = _linear(weights, "attention.output.dense")
        self.first_norm = _norm(weights, "attention.output.LayerNorm", epsilon)
        self.widened = _linear(weights, "intermediate.dense")
        self.narrowed = _linear(weights, "output.dense")
        self.second_norm = _norm(weights, "output.LayerNorm", epsilon)

    def forward(self, x: Tensor, visible: Tensor) -> Tensor:
        """x: (windows, tokens, width)   visible: (windows, 1, 1, tokens)"""
        query, key, value = self._by_head(x)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=visible)
        a = self.first_norm(self.answered(mixed.transpose(1, 2).flatten(2)).add_(x))
        y: Tensor = self.narrowed(_gelu(self.widened(a)))
        return self.second_norm(y.add_(a))  # type: ignore[no-any-return]

    def shares(self, x: Tensor, visible: Tensor) -> Tensor:
        """softmax(Q Kᵀ / √d), which fast attention never has: (windows, heads, tokens, tokens)."""
        query, key, _ = self._by_head(x)
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        shares: Tensor = scores.masked_fill(~visible, -torch.inf).softmax(-1)
        return shares

    def _by_head(self, x: Tensor) -> Tensor:
        """Query, key and value: (3, windows, heads, tokens, width of a head)."""
        asked: Tensor = self.asked(x).view(*x.shape[:2], 3, self.heads, -1)
        return asked.permute(2, 0, 3, 1, 4)


def _gelu(x: Tensor) -> Tensor:
    """In the place of x, unless its gradient needs what is there."""
    if x.requires_grad:
        return functional.gelu(x)
    y: Tensor = torch.ops.aten.gelu_(x)
    return y


def within(named: Weights, prefix: str) -> dict[str, Tensor]:
    """What is named with a prefix, by the rest of its name."""
    return {
        name.removeprefix(prefix): value for name, value in named.items() if name.startswith(prefix)
    }


def _name_today(name: str) -> str:
    """Without what a model with a head puts before it, and as parts are called by now."""
    name = name.removeprefix("bert.")
    for former, today in _FORMER_NAMES.items():
        name = name.replace(former, today)
    return name


def _linear(weights: Weights, *names: str) -> nn.Linear:
    """One linear layer that gives what those of these names give, one after the other."""
    weight = torch.cat([weights[f"{name}.weight"] for name in names])
    layer = nn.Linear(weight.shape[1], len(weight), device="meta")  # draws no weights
    layer.weight = _frozen(weight)
    layer.bias = _frozen(torch.cat([weights[f"{name}.bias"] for name in names]))
    return layer


def _norm(weights: Weights, name: str, epsilon: float) -> nn.LayerNorm:
    weight = weights[f"{name}.weight"]
    norm = nn.LayerNorm(len(weight), eps=epsilon, device="meta")
    norm.weight, norm.bias = _frozen(weight), _frozen(weights[f"{name}.bias"])
    return norm


def _frozen(value: Tensor) -> nn.Parameter:
    return nn.Parameter(value, requires_grad=False)
