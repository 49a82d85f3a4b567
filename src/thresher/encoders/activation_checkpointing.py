"""Encoding a large batch in small memory: part by part, activations computed again going back."""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from thresher.encoders.device_transfer import sent
from thresher.encoders.padding import Numbers, most_together, of_like_length
from thresher.encoders.protocol import Encoder, TokenBatch


def encode_in_parts(
    encoder: Encoder,
    batch: TokenBatch,
    gates: Tensor | None = None,
    *,
    tokens_together: int | None = None,
) -> Tensor:
    """Equal to `encoder.encode_gated(batch, gates)` where the mask is 1, gradients included.

    Only one part's activations are in memory at a time; for that, each part is encoded once more
    in the backward pass. Windows of like length make a part, so that little of it is padding.
    """
    most = tokens_together or most_together(batch.ids.device)
    if not len(batch.ids):  # of few sentences, some processes have no share
        return torch.zeros(*batch.ids.shape, encoder.width, device=batch.ids.device)
    if batch.ids.numel() <= most:
        return encoder.encode_gated(batch, gates)
    lengths = batch.lengths()
    parts = of_like_length(lengths, most)
    hidden = [_part(encoder, batch, each, int(lengths[each].max()), gates) for each in parts]
    order = torch.from_numpy(np.concatenate(parts)).argsort()
    return torch.cat(hidden)[sent(order, batch.ids.device)]


def _part(
    encoder: Encoder, batch: TokenBatch, index: Numbers, longest: int, gates: Tensor | None
) -> Tensor:
    """The vectors of some windows, filled up again to the length of all."""
    part = batch.rows(sent(torch.from_numpy(index), batch.ids.device), tokens=longest)
    if gates is None or not gates.requires_grad:
        hidden = encoder.encode_gated(part, gates)
    else:
        hidden = checkpoint(encoder.encode_gated, part, gates, use_reentrant=False)
    return functional.pad(hidden, (0, 0, 0, batch.ids.shape[1] - longest))
