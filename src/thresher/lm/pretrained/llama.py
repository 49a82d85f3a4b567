"""Llama's configuration and names of tensors: rotary positions, RMSNorm, SwiGLU.

Arcee's models are Llama with a feed-forward block that has no gate, as our default one.
"""

from typing import Any

import torch

from thresher.errors import InputError
from thresher.lm.choices import FeedForward, Normalization, PositionEncoding
from thresher.lm.model import Architecture
from thresher.lm.pretrained.family import Config, Tensors, require_setting
from thresher.lm.shape import Shape

MODEL_TYPE, CLASS_NAME = "llama", "LlamaForCausalLM"
UNGATED_TYPE, UNGATED_CLASS = "arcee", "ArceeForCausalLM"
_DEFAULT_EPSILON = torch.finfo(torch.float32).eps  # of torch's RMSNorm
_ACTIVATIONS = {  # theirs by ours
    FeedForward.SWIGLU: "silu",
    FeedForward.GELU: "gelu",
    FeedForward.GELU_TANH: "gelu_new",
}
_PROJECTIONS = ("q_proj", "k_proj", "v_proj")


def describes(shape: Shape) -> bool:
    """Whether Llama, or Arcee without gates, can represent a shape."""
    return shape.positions == PositionEncoding.ROTARY and shape.norm == Normalization.RMS


def read_architecture(config: Config) -> Architecture:
    """Return the architecture of a config.json."""
    gated = config["model_type"] == MODEL_TYPE
    ours = {theirs: mlp for mlp, theirs in _ACTIVATIONS.items()}
    allowed = ("silu",) if gated else ("gelu", "gelu_new")
    require_setting(config, "hidden_act", allowed, default="silu" if gated else "relu2")
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind != "default":
        raise InputError(f"config.json: rotary positions of type {kind} are not supported")
    bias = bool(config.get("attention_bias", False))
    require_setting(config, "mlp_bias", (bias,), default=False)
    shape = Shape(
        width=config["hidden_size"],
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        context=config["max_position_embeddings"],
        mlp=ours[config.get("hidden_act", "silu")].value,
        bias=bias,
        inner=config["intermediate_size"],
        key_heads=config.get("num_key_value_heads"),
        rotary_base=rope.get("rope_theta") or config.get("rope_theta", 10_000.0),
        norm_epsilon=config.get("rms_norm_eps", 1e-6),
    )
    require_setting(config, "head_dim", (shape.head_width, None), default=None)
    return Architecture(config["vocab_size"], shape, tied=config.get("tie_word_embeddings", False))


def write_config(architecture: Architecture) -> dict[str, Any]:
    """Return the entries of config.json that describe an architecture."""
    shape = architecture.shape
    return {
        "hidden_size": shape.width,
        "intermediate_size": shape.inner_width,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.number_of_key_heads,
        "head_dim": shape.head_width,
        "hidden_act": _ACTIVATIONS[FeedForward(shape.mlp)],
        "max_position_embeddings": shape.context,
        "rms_norm_eps": shape.norm_epsilon or _DEFAULT_EPSILON,
        "rope_theta": shape.rotary_base,
        "rope_parameters": {"rope_type": "default", "rope_theta": shape.rotary_base},
        "attention_bias": shape.bias,
        "mlp_bias": shape.bias,
        "attention_dropout": shape.dropout,
        "bos_token_id": None,
        "eos_token_id": None,
    }


def read_state(tensors: Tensors, architecture: Architecture) -> Tensors:
    """Return the state of our model, in which queries, keys and values are one matrix."""
    shape = architecture.shape
    tied = architecture.tied
    embedding = tensors["model.embed_tokens.weight"]
    state = {
        "embedding": embedding,
        "transformer.norm.weight": tensors["model.norm.weight"],
        "output.weight": embedding if tied else tensors["lm_head.weight"],
    }
    for layer in range(shape.layers):
        ours, theirs = f"transformer.layers.{layer}", f"model.layers.{layer}"
        for name, norm in _norms(theirs).items():
            state[f"{ours}.{name}.weight"] = tensors[f"{norm}.weight"]
        for kind in ("weight", "bias") if shape.bias else ("weight",):
            parts = [tensors[f"{theirs}.self_attn.{name}.{kind}"] for name in _PROJECTIONS]
            up = [tensors[f"{theirs}.mlp.{name}.{kind}"] for name in _up(shape)]
            state[f"{ours}.attention.qkv.{kind}"] = torch.cat(parts)
            state[f"{ours}.attention.output.{kind}"] = tensors[f"{theirs}.self_attn.o_proj.{kind}"]
            state[f"{ours}.mlp.up.{kind}"] = torch.cat(up)
            state[f"{ours}.mlp.down.{kind}"] = tensors[f"{theirs}.mlp.down_proj.{kind}"]
    return state


def write_tensors(state: Tensors, architecture: Architecture) -> Tensors:
    """Return the tensors of a folder from the state of our model."""
    shape = architecture.shape
    tensors = {
        "model.embed_tokens.weight": state["embedding"],
        "model.norm.weight": state["transformer.norm.weight"],
    }
    if not architecture.tied:
        tensors["lm_head.weight"] = state["output.weight"]
    keys = shape.number_of_key_heads * shape.head_width
    for layer in range(shape.layers):
        ours, theirs = f"transformer.layers.{layer}", f"model.layers.{layer}"
        for name, norm in _norms(theirs).items():
            tensors[f"{norm}.weight"] = state[f"{ours}.{name}.weight"]
        for kind in ("weight", "bias") if shape.bias else ("weight",):
            parts = torch.split(state[f"{ours}.attention.qkv.{kind}"], [shape.width, keys, keys])
            for name, part in zip(_PROJECTIONS, parts, strict=True):
                tensors[f"{theirs}.self_attn.{name}.{kind}"] = part.clone()
            up = torch.split(state[f"{ours}.mlp.up.{kind}"], shape.inner_width)
            for name, part in zip(_up(shape), up, strict=True):
                tensors[f"{theirs}.mlp.{name}.{kind}"] = part.clone()
            tensors[f"{theirs}.self_attn.o_proj.{kind}"] = state[f"{ours}.attention.output.{kind}"]
            tensors[f"{theirs}.mlp.down_proj.{kind}"] = state[f"{ours}.mlp.down.{kind}"]
    return tensors


def _norms(layer: str) -> dict[str, str]:
    """Return their names of our norms."""
    return {
        "attention_norm": f"{layer}.input_layernorm",
        "mlp_norm": f"{layer}.post_attention_layernorm",
    }


def _up(shape: Shape) -> tuple[str, ...]:
    return ("gate_proj", "up_proj") if shape.mlp == FeedForward.SWIGLU else ("up_proj",)
