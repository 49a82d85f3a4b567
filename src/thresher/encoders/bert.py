"""BERT built from its configuration and weights, without `transformers`.

    x⁰ = LayerNorm(word + token type + position)
    a = LayerNorm(x + Attention(x)),  xˡ = LayerNorm(a + W₂ GELU(W₁ a))

All tokens have the first token type, as in a text that is not a pair. The pooler is left out.
Query, key and value are one product, and sums are computed in place.
"""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.encoders.bert_weights import (
    WORD_EMBEDDINGS,
    Weights,
    check_shapes,
    with_current_names,
)
from thresher.tensor_files import require_finite
from thresher.validation import require_number

_QKV = ("query", "key", "value")


class Bert(nn.Module):
    """Equal to a `BertModel` of `transformers`, frozen, in float32.

    Word embeddings in float16 are kept in float16, because the table of a multilingual model is
    large: it is mapped from its file, and only the rows that are used are read and converted.

    The input is the word embeddings `words[ids]` and not the ids, so that a caller can change them
    first.
    """

    def __init__(self, config: Mapping[str, Any], weights: Weights) -> None:
        super().__init__()
        own = with_current_names(weights)
        require_finite(own, "the weights")
        heads, epsilon = config["num_attention_heads"], config.get("layer_norm_eps", 1e-12)
        check_shapes(own, layers=config["num_hidden_layers"], heads=heads)
        require_number("layer_norm_eps", epsilon, at_least=0, below=1)
        self.embeddings = BertEmbeddings(with_prefix(own, "embeddings."), epsilon=epsilon)
        self.layers = nn.ModuleList(
            BertLayer(with_prefix(own, f"encoder.layer.{number}."), heads=heads, epsilon=epsilon)
            for number in range(config["num_hidden_layers"])
        )

    def with_layers(self, weights: Weights) -> "Bert":
        """Return a model with the same word embeddings and other layers.

        weights: those of the layers and of the embeddings of positions and token types, with the
            names that `transformers` uses
        """
        first = self.layers[0]
        assert isinstance(first, BertLayer)
        numbers = {name.split(".")[2] for name in weights if name.startswith("encoder.layer.")}
        config = {
            "num_attention_heads": first.heads,
            "num_hidden_layers": len(numbers),
            "layer_norm_eps": self.embeddings.norm.eps,
        }
        words = self.word_embeddings.data
        own = {name: weight.to(words.device) for name, weight in weights.items()}
        return Bert(config, {**own, WORD_EMBEDDINGS: words})

    def layer_weights(self) -> dict[str, Tensor]:
        """Return the weights that `with_layers` needs to rebuild this model."""
        named = {
            "embeddings.position_embeddings.weight": self.embeddings.positions,
            "embeddings.token_type_embeddings.weight": torch.zeros(1, self.width),
            **_parameters("embeddings.LayerNorm", self.embeddings.norm),
        }
        for number, layer in enumerate(self.layers):
            assert isinstance(layer, BertLayer)
            named |= {
                f"encoder.layer.{number}.{name}": value for name, value in layer.weights().items()
            }
        return {name: value.detach() for name, value in named.items()}

    @property
    def word_embeddings(self) -> Tensor:
        """The word embeddings: (vocabulary, width)."""
        return self.embeddings.words

    @property
    def width(self) -> int:
        """The length of a hidden state."""
        return self.word_embeddings.shape[1]

    @property
    def max_positions(self) -> int:
        """The maximum number of tokens in a window."""
        return len(self.embeddings.positions)

    @property
    def depth(self) -> int:
        """The number of layers."""
        return len(self.layers)

    def forward(self, embedded: Tensor, mask: Tensor, *, layers: int) -> Tensor:
        """Return the hidden states after the first `layers` layers; the others are not computed.

        embedded: (windows, tokens, width)   mask: (windows, tokens)   returns: like `embedded`
        """
        x: Tensor = self.embeddings(embedded)
        attention_mask = mask.bool()[:, None, None, :]
        for layer in self.layers[:layers]:
            x = layer(x, attention_mask)
        return x

    def attention(self, embedded: Tensor, mask: Tensor, *, layers: int) -> list[Tensor]:
        """Return the attention weights of the first layers: (windows, heads, tokens, tokens)."""
        x: Tensor = self.embeddings(embedded)
        attention_mask = mask.bool()[:, None, None, :]
        weights = []
        for layer in self.layers[:layers]:
            assert isinstance(layer, BertLayer)
            weights.append(layer.attention_weights(x, attention_mask))
            x = layer(x, attention_mask)
        return weights


class BertEmbeddings(nn.Module):
    """The input of the first layer: word embeddings plus position and token type embeddings."""

    def __init__(self, weights: Weights, *, epsilon: float) -> None:
        super().__init__()
        self.words = _frozen(weights["word_embeddings.weight"])
        token_type = weights["token_type_embeddings.weight"][0]
        self.positions = _frozen(weights["position_embeddings.weight"] + token_type)
        self.norm = _norm(weights, "LayerNorm", epsilon)

    def forward(self, embedded: Tensor, position: Tensor | None = None) -> Tensor:
        """Add the position embeddings to word embeddings and normalize.

        embedded: (windows, tokens, width)   position: (windows, tokens), by default 0, 1, 2, …
        """
        if position is None:
            positions = self.positions[: embedded.shape[1]]
        else:
            positions = functional.embedding(position, self.positions)
        return self.norm(embedded.float() + positions)  # type: ignore[no-any-return]


class BertLayer(nn.Module):
    """x → a = LayerNorm(x + Attention(x)) → LayerNorm(a + W₂ GELU(W₁ a))."""

    def __init__(self, weights: Weights, *, heads: int, epsilon: float) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = _linear(weights, *(f"attention.self.{each}" for each in _QKV))
        self.attention_output = _linear(weights, "attention.output.dense")
        self.attention_norm = _norm(weights, "attention.output.LayerNorm", epsilon)
        self.feed_forward_in = _linear(weights, "intermediate.dense")
        self.feed_forward_out = _linear(weights, "output.dense")
        self.output_norm = _norm(weights, "output.LayerNorm", epsilon)

    def forward(self, x: Tensor, attention_mask: Tensor) -> Tensor:
        """Return the hidden states after this layer.

        x: (windows, tokens, width)   attention_mask: (windows, 1, 1, tokens), True to attend
        """
        query, key, value = self._split_heads(x)
        attended = functional.scaled_dot_product_attention(query, key, value, attention_mask)
        a = self.attention_norm(self.attention_output(attended.transpose(1, 2).flatten(2)).add_(x))
        y: Tensor = self.feed_forward_out(_gelu(self.feed_forward_in(a)))
        return self.output_norm(y.add_(a))  # type: ignore[no-any-return]

    def weights(self) -> dict[str, Tensor]:
        """Return the weights with the names that `transformers` uses."""
        named = {
            f"attention.self.{name}.{parameter}": part
            for parameter, value in self.qkv.named_parameters()
            for name, part in zip(_QKV, value.chunk(len(_QKV)), strict=True)
        }
        for name, module in (
            ("attention.output.dense", self.attention_output),
            ("attention.output.LayerNorm", self.attention_norm),
            ("intermediate.dense", self.feed_forward_in),
            ("output.dense", self.feed_forward_out),
            ("output.LayerNorm", self.output_norm),
        ):
            named |= _parameters(name, module)
        return named

    def attention_weights(self, x: Tensor, attention_mask: Tensor) -> Tensor:
        """Return softmax(Q Kᵀ / √d): (windows, heads, tokens, tokens).

        `scaled_dot_product_attention` does not return these weights.
        """
        query, key, _ = self._split_heads(x)
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        weights: Tensor = scores.masked_fill(~attention_mask, -torch.inf).softmax(-1)
        return weights

    def _split_heads(self, x: Tensor) -> Tensor:
        """Return query, key and value: (3, windows, heads, tokens, width of a head)."""
        qkv: Tensor = self.qkv(x).view(*x.shape[:2], 3, self.heads, -1)
        return qkv.permute(2, 0, 3, 1, 4)


def _gelu(x: Tensor) -> Tensor:
    """Compute GELU, in place unless x is needed for the gradient."""
    if x.requires_grad:
        return functional.gelu(x)
    y: Tensor = torch.ops.aten.gelu_(x)
    return y


def with_prefix(tensors: Weights, prefix: str) -> dict[str, Tensor]:
    """Return the tensors whose names start with a prefix, without it."""
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }


def _linear(weights: Weights, *names: str) -> nn.Linear:
    """Return one linear layer that concatenates the outputs of the named ones."""
    weight = torch.cat([weights[f"{name}.weight"] for name in names])
    layer = nn.Linear(weight.shape[1], len(weight), device="meta")  # no random initialization
    layer.weight = _frozen(weight)
    layer.bias = _frozen(torch.cat([weights[f"{name}.bias"] for name in names]))
    return layer


def _norm(weights: Weights, name: str, epsilon: float) -> nn.LayerNorm:
    weight = weights[f"{name}.weight"]
    norm = nn.LayerNorm(len(weight), eps=epsilon, device="meta")
    norm.weight, norm.bias = _frozen(weight), _frozen(weights[f"{name}.bias"])
    return norm


def _parameters(name: str, module: nn.Module) -> dict[str, Tensor]:
    return {f"{name}.{parameter}": value for parameter, value in module.named_parameters()}


def _frozen(value: Tensor) -> nn.Parameter:
    return nn.Parameter(value, requires_grad=False)
