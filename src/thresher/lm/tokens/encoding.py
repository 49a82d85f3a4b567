"""Encode long texts into compact arrays of token ids, in memory or in a file.

Ids are stored in the smallest dtype that holds the vocabulary and converted to int64 for each
batch. A text is encoded piece by piece, so there is no second copy of it.
"""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from thresher.errors import os_errors_as_input_errors
from thresher.lm.tokens.text_range import TextRange
from thresher.lm.tokens.tokenizer import Tokenizer


def encode_compactly(
    tokenizer: Tokenizer, text: str | TextRange, *, path: Path | None = None
) -> Tensor:
    """Return the token ids of a text: (tokens,), int16 or int32.

    path: a file to keep the ids in, which is then mapped into memory; by default they are held in
        memory
    """
    dtype = compact_dtype(tokenizer.vocabulary)
    text = TextRange.of(text)
    if path is not None:
        return _encode_to_file(tokenizer, text, path, dtype)
    ids = bytearray()
    for piece in tokenizer.encode_pieces(text):
        ids += piece.astype(dtype).data
    return torch.from_numpy(np.frombuffer(ids, dtype))


def compact_dtype(vocabulary: int) -> np.dtype[np.int16] | np.dtype[np.int32]:
    """Return the smallest of int16 and int32 that holds all ids of a vocabulary."""
    return np.dtype(np.int16) if vocabulary <= 1 << 15 else np.dtype(np.int32)


def _encode_to_file(
    tokenizer: Tokenizer,
    text: TextRange,
    path: Path,
    dtype: np.dtype[np.int16] | np.dtype[np.int32],
) -> Tensor:
    with os_errors_as_input_errors(f"cannot write token ids to {path}"):
        path.unlink(missing_ok=True)  # a process that has mapped the old file keeps its content
        with path.open("wb") as file:
            for piece in tokenizer.encode_pieces(text):
                file.write(piece.astype(dtype).data)  # `tofile` does not report a full disk
    if path.stat().st_size == 0:  # an empty file cannot be mapped
        return torch.zeros(0, dtype=torch.int16)
    return torch.from_numpy(np.memmap(path, dtype=dtype, mode="c"))
