"""The tokens of a long text on disk, mapped into memory: eight bytes each, read where needed."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from thresher.errors import os_errors_as_input_errors
from thresher.lm.tokens.factory import Tokens

PIECE = 1 << 20  # characters whose tokens are held at a time


def mapped_ids(tokens: Tokens, text: str, path: Path) -> Tensor:
    """Equal to `torch.from_numpy(tokens.encode(text))`, kept in a file: (tokens,), int64.

    Tokens that lose nothing read lines apart, so the text is encoded piece by piece; those that
    look for words and sentences read it whole.
    """
    with os_errors_as_input_errors(f"cannot write token ids to {path}"):
        path.unlink(missing_ok=True)  # who has the file of an earlier text mapped keeps it
        with path.open("wb") as file:
            for piece in _pieces(text) if tokens.lossless else [text]:
                tokens.encode(piece).tofile(file)
    if path.stat().st_size == 0:  # which cannot be mapped
        return torch.zeros(0, dtype=torch.int64)
    return torch.from_numpy(np.memmap(path, dtype=np.int64, mode="c"))  # "c": nobody may change it


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces that end where a line does."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + PIECE)
        stop = len(text) if end < 0 else end + 1
        yield text[start:stop]
        start = stop
