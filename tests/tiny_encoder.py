"""A tiny encoder, so that training is tested in milliseconds."""

import zlib
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from thresher.encoders.padding import batch_of_words
from thresher.encoders.protocol import TokenBatch, gate_embeddings, sentence_vectors
from thresher.encoders.subword_ids import flatten_ids
from thresher.encoders.token_windows import WindowLayout

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
        self.read: list[list[list[str]]] = []  # the sentences of all batches

    def batch(self, sentences) -> TokenBatch:
        self.read.append([list(words) for words in sentences])
        words = [word for words in sentences for word in words]
        ids, counts = flatten_ids([[_token(word)] if word.strip() else [] for word in words])
        return batch_of_words(ids, counts, sentences, WindowLayout(start=[START]))

    def encode(self, batch: TokenBatch) -> Tensor:
        return self.encode_gated(batch)

    def encode_gated(self, batch: TokenBatch, gates: Tensor | None = None) -> Tensor:
        embedded = gate_embeddings(self.embeddings[batch.ids], batch, gates, self.embeddings[MASK])
        mean = sentence_vectors(embedded, batch)[batch.sentence, None]
        return torch.tanh(embedded + mean @ self.mixing)


def _token(word: str) -> int:
    return FIRST_WORD + zlib.crc32(word.casefold().encode()) % (VOCABULARY - FIRST_WORD)


@pytest.fixture(scope="session")
def new_tiny() -> type[TinyEncoder]:
    return TinyEncoder


@pytest.fixture
def tiny() -> TinyEncoder:
    return TinyEncoder()


def random_sentences(rng) -> list[list[str]]:
    """Return forty sentences of made-up words; the first word of each one is its own."""
    return [
        [f"s{i}", *(f"w{w}" for w in rng.integers(0, 50, size=rng.integers(1, 9)))]
        for i in range(40)
    ]


@pytest.fixture
def quick_encoders(monkeypatch) -> None:
    """Encoders are trained on few words, with two small layers, in four steps."""
    from thresher.encoders import training  # noqa: PLC0415

    small = training.SIZES["small"]
    tiny = replace(
        small,
        shape=replace(small.shape, width=16, layers=2, heads=2, context=16),
        settings=replace(small.settings, steps=4, batch=2, evaluate_every=2),
    )
    monkeypatch.setattr(training, "SIZES", {"small": tiny, "large": tiny})
    monkeypatch.setattr(training, "MIN_WORDS", 100)
    monkeypatch.setattr("thresher.entities.training.fit._MIN_STEPS", 2)
