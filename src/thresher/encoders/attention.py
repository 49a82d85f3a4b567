"""How much attention a token receives and pays: two numbers beside its vector."""

import copy
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor

from thresher.encoders.protocol import TokenBatch
from thresher.errors import InputError

FEATURES = 2  # incoming and outgoing


@runtime_checkable
class AttendingEncoder(Protocol):
    """An encoder that can tell what its tokens attend to. It costs nothing until it is asked."""

    def attention(self, batch: TokenBatch, *, layer: int | None = None) -> Tensor:
        """Incoming and outgoing attention of every token: (windows, tokens, 2).

        layer: whose attention; by default the mean of the layers that `encode` reads
        """
        ...


def incoming_and_outgoing(weights: Tensor, word: Tensor) -> Tensor:
    """What each token gets from the tokens of other words, and what it gives to them.

    With A the attention from t to s, the mean over heads: incomingₜ = Σₛ Aₛₜ and outgoingₜ = Σₛ Aₜₛ
    over the tokens s of other words of the same window. A row of A sums to 1, so what outgoing
    lacks of that goes to special tokens and to the word itself. Both are 0 outside words.

    weights: (windows, heads, tokens, tokens)   word: (windows, tokens), −1 outside words
    returns: (windows, tokens, 2)
    """
    inside = word >= 0
    between = inside[:, :, None] & inside[:, None, :] & (word[:, :, None] != word[:, None, :])
    shared = weights.mean(1) * between
    return torch.stack([shared.sum(1), shared.sum(2)], dim=-1)


def attending_twin(model: Any, layers: int) -> Any:
    """A model of the first layers that shares every parameter with `model` and keeps attention.

    Fast attention never has the whole matrix; the plain one, which does, is chosen when a model
    is built.
    """
    from transformers import AutoModel  # noqa: PLC0415 (slow; a static encoder does without)

    config = copy.deepcopy(model.config)
    config.num_hidden_layers = layers
    with torch.random.fork_rng(devices=[]):  # building a model draws weights that are not used
        build: Any = AutoModel.from_config
        twin = build(config, attn_implementation="eager")
    missing, _ = twin.load_state_dict(model.state_dict(), strict=False, assign=True)
    if missing:
        raise InputError(f"{type(model).__name__} cannot be cut to {layers} layers for attention")
    return twin.to(model.device).eval().requires_grad_(False)
