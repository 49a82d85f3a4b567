"""How much attention a token receives and pays: two numbers beside its vector."""

from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from thresher.encoders.protocol import TokenBatch

ATTENTION_FEATURES = 2  # incoming and outgoing


@runtime_checkable
class AttentionEncoder(Protocol):
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
