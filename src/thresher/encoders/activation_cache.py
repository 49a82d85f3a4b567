"""Encoding with gates for a gradient that is asked for soon: what fits in memory is kept."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks
from torch.nn import functional

from thresher.encoders.activation_checkpointing import encode_in_parts
from thresher.encoders.padding import most_together, of_like_length
from thresher.encoders.protocol import Encoder, TokenBatch

MOST_KEPT = 1 << 29  # bytes


def encode_keeping(
    encoder: Encoder,
    batch: TokenBatch,
    gates: Tensor,
    *,
    tokens_together: int | None = None,
    most_kept: int = MOST_KEPT,
) -> Tensor:
    """Equal to `encode_in_parts(encoder, batch, gates)`, gradients included, in less time.

    The first parts keep their activations, up to `most_kept` bytes and one part more; only those
    of the others are computed again in the backward pass.
    """
    most = tokens_together or most_together(batch.ids.device)
    if not gates.requires_grad or not len(batch.ids):
        return encode_in_parts(encoder, batch, gates, tokens_together=most)
    device, tokens = batch.ids.device, batch.ids.shape[1]
    lengths = batch.lengths()
    kept = _Kept()
    hidden: list[Tensor] = []
    parts = [torch.from_numpy(each) for each in of_like_length(lengths, most)]
    for index in parts:
        if kept.bytes >= most_kept:
            break
        longest = int(lengths[index.numpy()].max())
        with kept.counting():
            own = encoder.encode_gated(batch.rows(index.to(device), tokens=longest), gates)
        hidden.append(functional.pad(own, (0, 0, 0, tokens - longest)))
    if others := parts[len(hidden) :]:
        rest = batch.rows(torch.cat(others).to(device), tokens=tokens)
        hidden.append(encode_in_parts(encoder, rest, gates, tokens_together=most))
    return torch.cat(hidden)[torch.cat(parts).argsort().to(device)]


@dataclass
class _Kept:
    """What the backward pass will need: the sizes of storages by address, each counted once."""

    sizes: dict[int, int] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        return sum(self.sizes.values())

    def counting(self) -> AbstractContextManager[None]:
        """Count what is saved within."""

        def count(saved: Tensor) -> Tensor:
            storage = saved.untyped_storage()
            self.sizes[storage.data_ptr()] = storage.nbytes()
            return saved

        return saved_tensors_hooks(count, lambda saved: saved)
