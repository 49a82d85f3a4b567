"""Encode long texts into compact arrays of token ids, in memory or in a file.

Ids are stored in the smallest dtype that holds the vocabulary and converted to int64 for each
batch. A text is encoded piece by piece, so there is no second copy of it. Encoding to a file keeps
beside it how far it has come, so that a stopped run continues there.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from thresher.atomic_files import write_file
from thresher.errors import os_errors_as_input_errors
from thresher.lm.tokens.counts import token_counts
from thresher.lm.tokens.text_file import TextFile
from thresher.lm.tokens.text_range import TextRange
from thresher.lm.tokens.tokenizer import Tokenizer
from thresher.untrusted_files import parse_json


@dataclass(frozen=True)
class EncodedText:
    """The tokens of a text.

    ids: (tokens,), int16 or int32   counts: (vocabulary,), how often each token occurs
    """

    ids: Tensor
    counts: Tensor


def encode_text(
    tokenizer: Tokenizer,
    text: str | TextFile | TextRange,
    *,
    path: Path | None = None,
    resumable: bool = False,
    resume: bool = False,
    on_progress: Callable[[int], None] = lambda characters: None,
) -> EncodedText:
    """Encode a text and count its tokens in one pass.

    path: a file to keep the ids in, which is then mapped into memory; by default they are held in
        memory
    resumable: keep in another file how far `path` has come
    resume: continue what an earlier resumable call with the same arguments has written to `path`
    on_progress: called with the number of further characters that are encoded
    """
    dtype = compact_dtype(tokenizer.vocabulary)
    text = TextRange.of(text)
    if path is not None:
        file = _IdFile(path, tokenizer, resumable=resumable or resume)
        return file.encode(text, resume=resume, on_progress=on_progress)
    ids = bytearray()
    for piece in tokenizer.encode_pieces(text):
        ids += piece.astype(dtype).data
    on_progress(text.stop - text.start)
    array: NDArray[np.integer] = np.frombuffer(ids, dtype)
    return EncodedText(torch.from_numpy(array), token_counts(array, tokenizer.vocabulary))


def compact_dtype(vocabulary: int) -> np.dtype[np.int16] | np.dtype[np.int32]:
    """Return the smallest of int16 and int32 that holds all ids of a vocabulary."""
    return np.dtype(np.int16) if vocabulary <= 1 << 15 else np.dtype(np.int32)


def state_path(path: Path) -> Path:
    """Return the file that says how far a file of ids has come."""
    return path.with_name(f"{path.name}.state")


class _IdFile:
    """A file of token ids, and how far it has come."""

    def __init__(self, path: Path, tokenizer: Tokenizer, *, resumable: bool) -> None:
        self._path, self._tokenizer, self._resumable = path, tokenizer, resumable
        self._dtype = compact_dtype(tokenizer.vocabulary)
        self._counts = np.zeros(tokenizer.vocabulary, np.int64)
        self._characters = self._ids = 0  # characters, and the ids that they gave
        # Ids of another tokenizer must not be continued, even if its vocabulary has the same size.
        self._digest = sha256(tokenizer.to_json().encode()).hexdigest() if resumable else ""

    def encode(
        self, text: TextRange, *, resume: bool, on_progress: Callable[[int], None]
    ) -> EncodedText:
        """Encode the rest of a text, and return the tokens of all of it."""
        path = self._path
        with os_errors_as_input_errors(f"cannot write token ids to {path}"):
            if resume and self._load_state():
                on_progress(self._characters)
            else:
                path.unlink(missing_ok=True)  # who has mapped the old file keeps its content
                path.touch()
            with path.open("r+b") as file:
                file.truncate(self._ids * self._dtype.itemsize)
                file.seek(0, os.SEEK_END)
                rest = TextRange(text.source, text.start + self._characters, text.stop)
                for block in rest.blocks():
                    self._add(block, file)
                    on_progress(block.stop - block.start)
        counts = torch.from_numpy(self._counts)
        if path.stat().st_size == 0:  # an empty file cannot be mapped
            return EncodedText(torch.zeros(0, dtype=torch.int16), counts)
        mapped = np.memmap(path, dtype=self._dtype, mode="c")
        return EncodedText(torch.from_numpy(mapped), counts)

    def _add(self, block: TextRange, file: IO[bytes]) -> None:
        for piece in self._tokenizer.encode_pieces(block):
            file.write(piece.astype(self._dtype).data)  # `tofile` does not report a full disk
            self._counts += np.bincount(piece, minlength=len(self._counts))
            self._ids += len(piece)
        self._characters += block.stop - block.start
        if self._resumable:
            file.flush()
            os.fsync(file.fileno())
            state = {
                "characters": self._characters,
                "ids": self._ids,
                "tokenizer": self._digest,
                "counts": self._counts.tolist(),
            }
            write_file(state_path(self._path), json.dumps(state).encode())

    def _load_state(self) -> bool:
        """Take over the state of an earlier call; False if there is none that is valid."""
        try:
            state: dict[str, Any] = parse_json(
                state_path(self._path).read_bytes(), str(state_path(self._path))
            )
            counts = np.array(state["counts"], np.int64)
            characters, ids = int(state["characters"]), int(state["ids"])
            complete = ids * self._dtype.itemsize <= self._path.stat().st_size
            complete = complete and state["tokenizer"] == self._digest
        except (OSError, ValueError, KeyError, TypeError):
            return False
        if not complete or counts.shape != self._counts.shape or int(counts.sum()) != ids:
            return False
        self._characters, self._ids, self._counts = characters, ids, counts
        return True
