"""The first layers of a transformer, and nothing that is computed beside them.

`FirstLayers` is any BERT-like model of `transformers` that stops early. `BertLayers` is the same
for BERT itself, faster on a CPU: query, key and value are one product, sums are made in place, and
the sentence vector that nobody asks for is left out.
"""

import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.errors import InputError


def first_layers(model: nn.Module, layers: int) -> nn.Module:
    """Ids and mask, (windows, tokens), to the vectors of a layer, (windows, tokens, width)."""
    shallow = FirstLayers(model, layers)
    return BertLayers(shallow.model) if _is_plain_bert(model) else shallow


class FirstLayers(nn.Module):
    """A view of the model that stops after some layers and shares every parameter with it."""

    def __init__(self, model: nn.Module, layers: int) -> None:
        super().__init__()
        encoder = getattr(model, "encoder", None)
        stack = getattr(encoder, "layer", None)
        if not isinstance(encoder, nn.Module) or not isinstance(stack, nn.ModuleList):
            raise InputError(
                f"{type(model).__name__} has no encoder.layer; choose a BERT-like encoder"
            )
        shallow_encoder = _shallow_copy(encoder)
        shallow_encoder.layer = stack[:layers]
        self.model: Any = _shallow_copy(model)
        self.model.encoder = shallow_encoder

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The vectors of the last of these layers."""
        output = self.model(input_ids=ids, attention_mask=mask)
        return output.last_hidden_state  # type: ignore[no-any-return]


class BertLayers(nn.Module):
    """Equal to `model(input_ids=ids, attention_mask=mask).last_hidden_state` of a `BertModel`."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.embeddings = model.embeddings
        heads = model.config.num_attention_heads
        self.layers = nn.ModuleList(BertLayer(each, heads=heads) for each in model.encoder.layer)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The vectors of the last layer."""
        x: Tensor = self.embeddings(input_ids=ids)
        visible = mask.bool()[:, None, None, :]
        for layer in self.layers:
            x = layer(x, visible)
        return x


class BertLayer(nn.Module):
    """x → a = LayerNorm(x + Attention(x)) → LayerNorm(a + W₂ GELU(W₁ a)), weights of `layer`."""

    def __init__(self, layer: Any, *, heads: int) -> None:
        super().__init__()
        attention = layer.attention.self
        self.heads = heads
        self.asked = _side_by_side(attention.query, attention.key, attention.value)
        self.answered, self.first_norm = (
            layer.attention.output.dense,
            layer.attention.output.LayerNorm,
        )
        self.widened, self.narrowed = layer.intermediate.dense, layer.output.dense
        self.second_norm = layer.output.LayerNorm

    def forward(self, x: Tensor, visible: Tensor) -> Tensor:
        """x: (windows, tokens, width)   visible: (windows, 1, 1, tokens)"""
        query, key, value = self.asked(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=visible)
        a = self.first_norm(self.answered(mixed.transpose(1, 2).flatten(2)).add_(x))
        y: Tensor = self.narrowed(torch.ops.aten.gelu_(self.widened(a)))
        return self.second_norm(y.add_(a))  # type: ignore[no-any-return]


def _side_by_side(*parts: nn.Linear) -> nn.Linear:
    """One linear layer that gives what several give, one after the other."""
    weight = torch.cat([each.weight.detach() for each in parts])
    whole = nn.Linear(weight.shape[1], len(weight), device="meta")
    whole.weight = nn.Parameter(weight, requires_grad=False)
    bias = torch.cat([each.bias.detach() for each in parts])
    whole.bias = nn.Parameter(bias, requires_grad=False)
    return whole


def _is_plain_bert(model: nn.Module) -> bool:
    config: Any = getattr(model, "config", None)
    return (
        getattr(config, "model_type", None) == "bert"
        and config.hidden_act == "gelu"
        and getattr(config, "position_embedding_type", None) in (None, "absolute")
        and not config.is_decoder
    )


def _shallow_copy(module: nn.Module) -> nn.Module:
    """A module of its own whose children and parameters are those of the original."""
    twin = copy.copy(module)
    twin._modules = dict(module._modules)
    return twin
