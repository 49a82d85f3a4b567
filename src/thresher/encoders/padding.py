"""Rows of tokens of different lengths as one batch."""

from collections.abc import Sequence

import torch

from thresher.encoders.protocol import TokenBatch


def padded_batch(
    ids: Sequence[list[int]],
    word: Sequence[list[int]],
    sentence: Sequence[int],
    lengths: Sequence[int],
    *,
    pad: int,
) -> TokenBatch:
    """Windows filled up to the longest with `pad`, which belongs to no word and is masked out.

    ids, word: of each window   sentence: (windows,)   lengths: (sentences,), in words
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


def _tensor(values: Sequence[int] | Sequence[list[int]]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.long)
