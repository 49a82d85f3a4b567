"""GPT-2's configuration and names of tensors: learned positions, LayerNorm, GELU, biases."""

from typing import Any

import torch
from torch import Tensor

from thresher.lm.choices import FeedForward, Normalization, PositionEncoding
from thresher.lm.model import Architecture
from thresher.lm.pretrained.family import Config, Tensors, require_setting
from thresher.lm.shape import Shape

MODEL_TYPE, CLASS_NAME = "gpt2", "GPT2LMHeadModel"
_ACTIVATIONS = {"gelu_new": FeedForward.GELU_TANH, "gelu": FeedForward.GELU}
_LAYER = {  # our names within a layer, and theirs
    "attention_norm": "ln_1",
    "attention.qkv": "attn.c_attn",
    "attention.output": "attn.c_proj",
    "mlp_norm": "ln_2",
    "mlp.up": "mlp.c_fc",
    "mlp.down": "mlp.c_proj",
}


def describes(shape: Shape) -> bool:
    """Whether GPT-2 can represent a shape; its biases are zero if the shape has none."""
    return (
        shape.positions == PositionEncoding.LEARNED
        and shape.norm == Normalization.LAYER
        and shape.mlp in _ACTIVATIONS.values()
        and shape.number_of_key_heads == shape.heads
    )


def read_architecture(config: Config) -> Architecture:
    """Return the architecture of a config.json."""
    for name, value in {
        "scale_attn_weights": True,
        "scale_attn_by_inverse_layer_idx": False,
        "add_cross_attention": False,
    }.items():
        require_setting(config, name, (value,), default=value)
    require_setting(config, "activation_function", tuple(_ACTIVATIONS), default="gelu_new")
    shape = Shape(
        width=config["n_embd"],
        layers=config["n_layer"],
        heads=config["n_head"],
        context=config["n_positions"],
        positions=PositionEncoding.LEARNED.value,
        mlp=_ACTIVATIONS[config.get("activation_function", "gelu_new")].value,
        norm=Normalization.LAYER.value,
        bias=True,
        inner=config.get("n_inner"),
        norm_epsilon=config.get("layer_norm_epsilon", 1e-5),
    )
    return Architecture(config["vocab_size"], shape, tied=config.get("tie_word_embeddings", True))


def write_config(architecture: Architecture) -> dict[str, Any]:
    """Return the entries of config.json that describe an architecture."""
    shape = architecture.shape
    names = {ours: theirs for theirs, ours in _ACTIVATIONS.items()}
    return {
        "n_embd": shape.width,
        "n_layer": shape.layers,
        "n_head": shape.heads,
        "n_positions": shape.context,
        "n_inner": shape.inner_width,
        "activation_function": names[FeedForward(shape.mlp)],
        "layer_norm_epsilon": shape.norm_epsilon or 1e-5,
        "resid_pdrop": shape.dropout,
        "embd_pdrop": shape.dropout,
        "attn_pdrop": shape.dropout,
        "bos_token_id": None,
        "eos_token_id": None,
    }


def read_state(tensors: Tensors, architecture: Architecture) -> Tensors:
    """Return the state of our model; matrices are transposed, because GPT-2 stores them so."""
    tensors = {name.removeprefix("transformer."): value for name, value in tensors.items()}
    state = {
        "embedding": tensors["wte.weight"],
        "transformer.position_embedding": tensors["wpe.weight"],
        "transformer.norm.weight": tensors["ln_f.weight"],
        "transformer.norm.bias": tensors["ln_f.bias"],
        "output.weight": tensors["wte.weight" if architecture.tied else "lm_head.weight"],
    }
    for layer in range(architecture.shape.layers):
        for ours, theirs in _LAYER.items():
            for kind in ("weight", "bias"):
                value = tensors[f"h.{layer}.{theirs}.{kind}"]
                state[f"transformer.layers.{layer}.{ours}.{kind}"] = (
                    value.T.contiguous() if value.dim() == 2 else value
                )
    return state


def write_tensors(state: Tensors, architecture: Architecture) -> Tensors:
    """Return the tensors of a folder from the state of our model."""
    tensors = {
        "transformer.wte.weight": state["embedding"],
        "transformer.wpe.weight": state["transformer.position_embedding"],
        "transformer.ln_f.weight": state["transformer.norm.weight"],
        "transformer.ln_f.bias": _bias(state, "transformer.norm"),
    }
    if not architecture.tied:
        tensors["lm_head.weight"] = state["output.weight"]
    for layer in range(architecture.shape.layers):
        for ours, theirs in _LAYER.items():
            name = f"transformer.layers.{layer}.{ours}"
            weight = state[f"{name}.weight"]
            there = f"transformer.h.{layer}.{theirs}"
            tensors[f"{there}.weight"] = weight.T.contiguous() if weight.dim() == 2 else weight
            tensors[f"{there}.bias"] = _bias(state, name)
    return tensors


def _bias(state: Tensors, name: str) -> Tensor:
    weight = state[f"{name}.weight"]
    return state.get(f"{name}.bias", torch.zeros(weight.shape[0]))
