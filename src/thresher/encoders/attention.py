"""Attention as features of a token: how much it receives and how much it gives."""

from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from thresher.encoders.protocol import TokenBatch

ATTENTION_FEATURES = 2  # incoming and outgoing


@runtime_checkable
class AttentionEncoder(Protocol):
    """An encoder that can return attention; it costs nothing unless `attention` is called."""

    def attention(self, batch: TokenBatch, *, layer: int | None = None) -> Tensor:
        """Return the incoming and outgoing attention of every token: (windows, tokens, 2).

        layer: by default the mean over all layers up to the one that `encode` returns
        """
        ...


def incoming_and_outgoing(weights: Tensor, word: Tensor) -> Tensor:
    """Return the attention that each token receives from, and gives to, tokens of other words.

    With A the attention from t to s, averaged over heads: incomingₜ = Σₛ Aₛₜ and outgoingₜ = Σₛ Aₜₛ
    over the tokens s of other words in the same window. A row of A sums to 1; the part that is
    missing in outgoing goes to special tokens and to the word itself. Both are 0 outside words.

    weights: (windows, heads, tokens, tokens)   word: (windows, tokens), −1 outside words
    returns: (windows, tokens, 2)
    """
    inside = word >= 0
    between = inside[:, :, None] & inside[:, None, :] & (word[:, :, None] != word[:, None, :])
    attention = weights.mean(1) * between
    return torch.stack([attention.sum(1), attention.sum(2)], dim=-1)
