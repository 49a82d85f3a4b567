"""A tiny encoder, so that training is tested in milliseconds."""

import zlib

import pytest
import torch
from torch import Tensor

from thresher.encoders.protocol import TokenBatch

START, MASK, FIRST_WORD, VOCABULARY = 0, 1, 2, 1024


class TinyEncoder:
    """Random embeddings of folded words, and one linear layer that mixes in the sentence's mean.

    A start token before the words, one token per word, none for a word that is only a space.
    """

    name, width, layer, device = "tiny", 8, 1, torch.device("cpu")
    common_words: frozenset[str] = frozenset({"the"})

    def __init__(self) -> None:
        noise = torch.Generator().manual_seed(0)
        self.embeddings = torch.randn(VOCABULARY, self.width, generator=noise)
        self.mixing = torch.randn(self.width, self.width, generator=noise) / self.width**0.5
        self.read: list[list[list[str]]] = []  # the batches it was asked for

    def batch(self, sentences) -> TokenBatch:
        self.read.append([list(words) for words in sentences])
        longest = max(map(len, sentences)) + 1
        ids = torch.zeros(len(sentences), longest, dtype=torch.long)
        mask = torch.zeros_like(ids)
        word = torch.full_like(ids, -1)
        owner: list[int] = []
        for row, words in enumerate(sentences):
            kept = [(len(owner) + i, each) for i, each in enumerate(words) if each.strip()]
            mask[row, : len(kept) + 1] = 1
            for column, (number, each) in enumerate(kept, start=1):
                word[row, column] = number
                ids[row, column] = _token(each)
            owner += [row] * len(words)
        return TokenBatch(
            ids=ids,
            mask=mask,
            word=word,
            sentence=torch.arange(len(sentences)),
            sentence_of_word=torch.tensor(owner, dtype=torch.long),
            sentences=len(sentences),
        )

    def encode(self, batch: TokenBatch) -> Tensor:
        return self.encode_gated(batch)

    def encode_gated(self, batch: TokenBatch, gates: Tensor | None = None) -> Tensor:
        embedded = self.embeddings[batch.ids]
        if gates is not None:
            gate = torch.where(batch.word >= 0, gates[batch.word.clamp(min=0)], 1.0)[..., None]
            embedded = gate * embedded + (1 - gate) * self.embeddings[MASK]
        inside = batch.mask[..., None]
        mean = (embedded * inside).sum(1, keepdim=True) / inside.sum(1, keepdim=True)
        return torch.tanh(embedded + mean @ self.mixing)


def _token(word: str) -> int:
    return FIRST_WORD + zlib.crc32(word.casefold().encode()) % (VOCABULARY - FIRST_WORD)


@pytest.fixture(scope="session")
def new_tiny() -> type[TinyEncoder]:
    return TinyEncoder


@pytest.fixture
def tiny() -> TinyEncoder:
    return TinyEncoder()
