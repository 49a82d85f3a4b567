"""Build padded batches of tokens, and encode them with little computation for padding."""

from collections.abc import Callable, Sequence, Sized
from typing import Any

import numpy as np
import torch
from torch import Tensor

from thresher.encoders.device_transfer import to_device
from thresher.encoders.protocol import TokenBatch
from thresher.encoders.token_windows import IntArray, WindowLayout

_MAX_BATCH_TOKENS = {"cpu": 512, "cuda": 16_384}  # what fits in a CPU cache; what fills a GPU


def padded_batch(
    ids: Sequence[list[int]],
    word: Sequence[list[int]],
    sentence: Sequence[int],
    lengths: Sequence[int],
    *,
    pad: int,
) -> TokenBatch:
    """Return a batch of windows, padded to the longest; padding is masked and has word −1.

    ids, word: for each window, the token ids and the index of each token's word
    sentence: (windows,), the index of each window's sentence
    lengths: (sentences,), in words
    pad: the token id of padding
    """
    longest = max(map(len, ids), default=0)
    mask = [[1] * len(row) + [0] * (longest - len(row)) for row in ids]
    return TokenBatch(
        ids=_tensor([row + [pad] * (longest - len(row)) for row in ids]),
        mask=_tensor(mask),
        word=_tensor([row + [-1] * (longest - len(row)) for row in word]),
        sentence=_tensor(sentence),
        sentence_of_word=torch.repeat_interleave(_tensor(lengths)),
        sentences=len(lengths),
    )


def batch_of_words(
    ids: IntArray, counts: IntArray, sentences: Sequence[Sized], layout: WindowLayout
) -> TokenBatch:
    """Return `layout.windows(ids, counts, sentences)` as a batch."""
    windows = layout.windows(ids, counts, sentences)
    tensors: dict[str, Any] = {
        name: torch.from_numpy(array) for name, array in vars(windows).items()
    }
    return TokenBatch(**tensors, sentences=len(sentences))


def encode_by_length(
    encode: Callable[..., Tensor], batch: TokenBatch, *inputs: Tensor, max_tokens: int | None = None
) -> Tensor:
    """Equal to `encode(batch.ids, batch.mask, *inputs)` where the mask is 1; undefined elsewhere.

    Windows of similar length are encoded together and truncated to the longest of them, so that
    little is computed for padding.

    encode: from ids, mask and inputs, (windows, tokens) each, to (windows, tokens, width)
    inputs: further inputs of `encode`, (windows, tokens) each
    max_tokens: encoded together, padding included; the default depends on the device
    """
    arguments = (batch.ids, batch.mask, *inputs)
    lengths = batch.lengths()
    hidden: Tensor | None = None
    for rows in group_by_length(lengths, max_tokens or max_batch_tokens(batch.ids.device)):
        longest = int(lengths[rows].max())
        index = to_device(torch.from_numpy(rows), batch.ids.device)
        encoded = encode(*(each[index, :longest] for each in arguments))
        if hidden is None:
            hidden = encoded.new_empty(*batch.ids.shape, encoded.shape[-1])
        hidden[index, :longest] = encoded
    return encode(*arguments) if hidden is None else hidden


def max_batch_tokens(device: torch.device) -> int:
    """Return how many tokens, padding included, are best encoded together on a device."""
    return _MAX_BATCH_TOKENS.get(device.type, _MAX_BATCH_TOKENS["cpu"])


def group_by_length(lengths: IntArray, max_tokens: int) -> list[IntArray]:
    """Group the indices of rows of similar length, at most `max_tokens` per group with padding."""
    order = np.argsort(lengths, kind="stable")
    groups, low = [], 0
    for high in range(1, len(order) + 1):
        full = high < len(order) and (high + 1 - low) * lengths[order[high]] > max_tokens
        if full or high == len(order):
            groups.append(order[low:high])
            low = high
    return groups


def _tensor(values: Sequence[int] | Sequence[list[int]]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.long)
