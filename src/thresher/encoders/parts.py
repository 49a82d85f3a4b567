"""Encoding a large batch in small memory: part by part, activations computed again going back."""

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from thresher.encoders.protocol import Encoder, TokenBatch

TOKENS_AT_ONCE = {"cpu": 2048, "cuda": 16_384}


def encode_in_parts(
    encoder: Encoder,
    batch: TokenBatch,
    gates: Tensor | None = None,
    *,
    tokens_at_once: int | None = None,
) -> Tensor:
    """Equal to `encoder.encode_gated(batch, gates)`, gradients included.

    Only one part's activations are in memory at a time; for that, each part is encoded once more
    in the backward pass.
    """
    most = tokens_at_once or TOKENS_AT_ONCE.get(batch.ids.device.type, 2048)
    windows, tokens = batch.ids.shape
    rows = max(1, most // max(tokens, 1))
    if windows <= rows:
        return encoder.encode_gated(batch, gates)
    parts = [batch.part(low, low + rows) for low in range(0, windows, rows)]
    if gates is None or not gates.requires_grad:
        return torch.cat([encoder.encode_gated(part, gates) for part in parts])
    return torch.cat(
        [checkpoint(encoder.encode_gated, part, gates, use_reentrant=False) for part in parts]
    )
