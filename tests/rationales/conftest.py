"""An encoder of bags of words, so that training is tested in seconds, and texts to learn from."""

import random
import zlib
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from thresher.encoders.padding import batch_of_words
from thresher.encoders.protocol import TokenBatch, gate_embeddings, sentence_vectors
from thresher.encoders.subword_ids import flatten_ids
from thresher.encoders.token_windows import WindowLayout

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
        ids, counts = flatten_ids([[token(word)] for words in sentences for word in words])
        return batch_of_words(ids, counts, sentences, WindowLayout(start=[START]))

    def encode(self, batch: TokenBatch) -> Tensor:
        return self.embeddings[batch.ids]

    def encode_gated(self, batch: TokenBatch, gates: Tensor | None = None) -> Tensor:
        embedded = gate_embeddings(
            self.embeddings[batch.ids], batch, gates, self.embeddings[CLOSED]
        )
        mean = sentence_vectors(embedded, batch)[batch.sentence, None]
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
