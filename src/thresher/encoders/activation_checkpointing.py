"""Encode a large batch in little memory by computing activations again in the backward pass."""

from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from thresher.encoders.device_transfer import to_device
from thresher.encoders.padding import group_by_length, max_batch_tokens
from thresher.encoders.protocol import Encoder, TokenBatch

MAX_CACHED_BYTES = 1 << 29


def encode_checkpointed(
    encoder: Encoder,
    batch: TokenBatch,
    gates: Tensor | None = None,
    *,
    max_tokens: int | None = None,
) -> Tensor:
    """Equal to `encoder.encode_gated(batch, gates)` where the mask is 1, gradients included.

    The batch is split into parts of windows of similar length. Only the activations of one part are
    in memory at a time, because each part is encoded again in the backward pass.

    max_tokens: the size of a part, padding included; the default depends on the device
    """
    max_tokens = max_tokens or max_batch_tokens(batch.ids.device)
    if not len(batch.ids):  # with few sentences, some processes have none
        return torch.zeros(*batch.ids.shape, encoder.width, device=batch.ids.device)
    if batch.ids.numel() <= max_tokens:
        return encoder.encode_gated(batch, gates)
    lengths = batch.lengths()
    parts = [torch.from_numpy(each) for each in group_by_length(lengths, max_tokens)]
    hidden = []
    for index in parts:
        part = _select(batch, index, int(lengths[index.numpy()].max()))
        if gates is None or not gates.requires_grad:
            vectors = encoder.encode_gated(part, gates)
        else:
            vectors = checkpoint(encoder.encode_gated, part, gates, use_reentrant=False)
        hidden.append(_pad(vectors, batch))
    return _in_original_order(hidden, parts, batch)


def encode_partly_checkpointed(
    encoder: Encoder,
    batch: TokenBatch,
    gates: Tensor,
    *,
    max_tokens: int | None = None,
    max_cached_bytes: int = MAX_CACHED_BYTES,
) -> Tensor:
    """Equal to `encode_checkpointed(encoder, batch, gates)`, gradients included, in less time.

    The activations of the first parts are kept in memory until they exceed `max_cached_bytes`; only
    the other parts are computed again in the backward pass.
    """
    max_tokens = max_tokens or max_batch_tokens(batch.ids.device)
    if not gates.requires_grad or not len(batch.ids):
        return encode_checkpointed(encoder, batch, gates, max_tokens=max_tokens)
    lengths = batch.lengths()
    cached = _CachedActivations()
    hidden: list[Tensor] = []
    parts = [torch.from_numpy(each) for each in group_by_length(lengths, max_tokens)]
    for index in parts:
        if cached.bytes >= max_cached_bytes:
            break
        part = _select(batch, index, int(lengths[index.numpy()].max()))
        with cached.count_saved_tensors():
            vectors = encoder.encode_gated(part, gates)
        hidden.append(_pad(vectors, batch))
    if others := parts[len(hidden) :]:
        rest = _select(batch, torch.cat(others), batch.ids.shape[1])
        hidden.append(encode_checkpointed(encoder, rest, gates, max_tokens=max_tokens))
    return _in_original_order(hidden, parts, batch)


@dataclass
class _CachedActivations:
    """The sizes of the tensors saved for the backward pass, by address, each counted once."""

    sizes: dict[int, int] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        return sum(self.sizes.values())

    def count_saved_tensors(self) -> AbstractContextManager[None]:
        """Count the tensors that are saved inside the `with` block."""

        def count(saved: Tensor) -> Tensor:
            storage = saved.untyped_storage()
            self.sizes[storage.data_ptr()] = storage.nbytes()
            return saved

        return saved_tensors_hooks(count, lambda saved: saved)


def _select(batch: TokenBatch, index: Tensor, tokens: int) -> TokenBatch:
    return batch.select(to_device(index, batch.ids.device), tokens=tokens)


def _pad(hidden: Tensor, batch: TokenBatch) -> Tensor:
    """Pad to the number of tokens of the whole batch."""
    return functional.pad(hidden, (0, 0, 0, batch.ids.shape[1] - hidden.shape[1]))


def _in_original_order(hidden: list[Tensor], parts: list[Tensor], batch: TokenBatch) -> Tensor:
    order = torch.cat(parts).argsort()
    return torch.cat(hidden)[to_device(order, batch.ids.device)]
