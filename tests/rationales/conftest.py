"""An encoder of bags of words, so that training is tested in seconds, and texts to learn from."""

import random
import zlib
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from thresher.encoders.protocol import TokenBatch

START, CLOSED, FIRST_WORD, WIDTH = 0, 1, 2, 32
GOOD, BAD = "lovely superb tasty".split(), "awful rude stale".split()
FILLERS = "the soup and a waiter came with bread to our table near window on monday".split()
NUMBERS = {word: i for i, word in enumerate([*GOOD, *BAD, *FILLERS], start=FIRST_WORD)}


class BagEncoder:
    """A direction for each known word; in the last layer each is mixed with its text's mean.

    A start token before the words and one token a word. A closed gate leaves the word's place,
    with an embedding that stands for no word.
    """

    name, width, layer, device = "bag", WIDTH, 1, torch.device("cpu")

    def __init__(self, dtype=torch.float32) -> None:
        noise = torch.Generator().manual_seed(0)
        self.embeddings = 2 * torch.eye(self.width, dtype=dtype)
        self.embeddings[CLOSED] = 0
        self.mixing = torch.randn(self.width, self.width, generator=noise, dtype=dtype) / 10

    def batch(self, sentences) -> TokenBatch:
        longest = max(map(len, sentences)) + 1
        ids = torch.zeros(len(sentences), longest, dtype=torch.long)
        mask, word = torch.zeros_like(ids), torch.full_like(ids, -1)
        owner: list[int] = []
        for row, words in enumerate(sentences):
            mask[row, : len(words) + 1] = 1
            for column, each in enumerate(words, start=1):
                word[row, column] = len(owner)
                ids[row, column] = token(each)
                owner.append(row)
        return TokenBatch(
            ids=ids,
            mask=mask,
            word=word,
            sentence=torch.arange(len(sentences)),
            sentence_of_word=torch.tensor(owner, dtype=torch.long),
            sentences=len(sentences),
        )

    def encode(self, batch: TokenBatch) -> Tensor:
        return self.embeddings[batch.ids]

    def encode_gated(self, batch: TokenBatch, gates: Tensor | None = None) -> Tensor:
        embedded = self.embeddings[batch.ids]
        if gates is not None:
            gate = torch.where(batch.word >= 0, gates[batch.word.clamp(min=0)], 1.0)[..., None]
            embedded = gate * embedded + (1 - gate) * self.embeddings[CLOSED]
        inside = batch.mask[..., None]
        mean = (embedded * inside).sum(1, keepdim=True) / inside.sum(1, keepdim=True)
        return torch.tanh(embedded + mean @ self.mixing)


def token(word: str) -> int:
    unknown = FIRST_WORD + len(NUMBERS)
    folded = word.casefold()
    return NUMBERS.get(folded, unknown + zlib.crc32(folded.encode()) % (WIDTH - unknown))


@dataclass(frozen=True)
class Reviews:
    """Texts whose label is decided by one word each; gold is true there."""

    texts: list[list[str]]
    labels: Tensor
    gold: list[Tensor]


def reviews(count: int, *, seed: int = 0) -> Reviews:
    draw = random.Random(seed)
    texts, labels, gold = [], [], []
    for _ in range(count):
        label = draw.randrange(2)
        words = draw.choices(FILLERS, k=draw.randint(5, 8))
        at = draw.randint(0, len(words))
        words.insert(at, draw.choice((BAD, GOOD)[label]))
        texts.append(words)
        labels.append(label)
        gold.append(torch.arange(len(words)) == at)
    return Reviews(texts, torch.tensor(labels), gold)


@pytest.fixture(scope="session")
def bag() -> BagEncoder:
    return BagEncoder()


@pytest.fixture(scope="session")
def exact_bag() -> BagEncoder:
    """In float64, for finite differences."""
    return BagEncoder(torch.float64)


@pytest.fixture(scope="session")
def learned() -> Reviews:
    return reviews(200)


@pytest.fixture(scope="session")
def unseen() -> Reviews:
    return reviews(100, seed=1)
