"""Encoding a large batch in small memory: part by part, activations computed again going back."""

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from thresher.encoders.padding import most_together, of_like_length
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
    lengths = batch.mask.sum(1).cpu().numpy()
    indices = [torch.from_numpy(each) for each in of_like_length(lengths, most)]
    hidden = [_part(encoder, batch, index.to(batch.ids.device), gates) for index in indices]
    order = torch.cat(indices).argsort().to(batch.ids.device)
    return torch.cat(hidden)[order]


def _part(encoder: Encoder, batch: TokenBatch, index: Tensor, gates: Tensor | None) -> Tensor:
    """The vectors of some windows, filled up again to the length of all."""
    longest = int(batch.mask[index].sum(1).max())
    part = batch.rows(index, tokens=longest)
    if gates is None or not gates.requires_grad:
        hidden = encoder.encode_gated(part, gates)
    else:
        hidden = checkpoint(encoder.encode_gated, part, gates, use_reentrant=False)
    return functional.pad(hidden, (0, 0, 0, batch.ids.shape[1] - longest))
