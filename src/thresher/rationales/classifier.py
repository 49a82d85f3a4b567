"""The classifier F: a text's vector to the scores of its labels, with a gate on every word."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.encoders.activation_checkpointing import encode_checkpointed
from thresher.encoders.protocol import Encoder, TokenBatch, sentence_vectors, word_vectors
from thresher.gates.objective import GATES_AT


class Classifier(nn.Module):
    """Two layers over the vector of a text: W₂ GELU(W₁ LayerNorm(v)).

    vectors: (texts, width)   returns: logits (texts, labels)
    """

    def __init__(self, width: int, labels: int, *, hidden: int = 256) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, hidden)
        self.outer = nn.Linear(hidden, labels)

    def forward(self, vectors: Tensor) -> Tensor:
        """The logits of each text."""
        logits: Tensor = self.outer(functional.gelu(self.inner(self.norm(vectors))))
        return logits


def seeded_classifier(seed: int, width: int, labels: int, *, hidden: int) -> Classifier:
    """A new classifier whose weights follow from the seed alone; the global generator is kept."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Classifier(width, labels, hidden=hidden)


@dataclass(frozen=True)
class Reader:
    """Turns texts into vectors, some of their words taken away.

    gates_at: "input" takes words away before the encoder reads the text, so that nothing of them
    is left; "pool" leaves their vectors out of the mean, though their neighbours have read them
    """

    encoder: Encoder
    gates_at: str = "input"

    def __post_init__(self) -> None:
        if self.gates_at not in GATES_AT:
            raise ValueError(
                f"unknown place for gates {self.gates_at!r}; choose from {', '.join(GATES_AT)}"
            )

    def batch(self, texts: Sequence[Sequence[str]]) -> TokenBatch:
        """Texts, each all its words, as tokens."""
        return self.encoder.batch(texts)

    def vectors(self, batch: TokenBatch, z: Tensor | None = None) -> Tensor:
        """The vectors of the texts with word w let through by z[w]: (texts, width)."""
        if self.gates_at == "input":
            return sentence_vectors(encode_checkpointed(self.encoder, batch, z), batch)
        with torch.no_grad():
            words = word_vectors(encode_checkpointed(self.encoder, batch), batch)
        weights = words.new_ones(batch.words) if z is None else z
        return _pooled(words, weights, batch.sentence_of_word, batch.sentences)


def _pooled(words: Tensor, weights: Tensor, text_of_word: Tensor, texts: int) -> Tensor:
    """Σ z v / max(Σ z, 1) over the words of each text.

    The bound keeps the gradient of a text whose gates are all but closed as small as any other.
    """
    sums = words.new_zeros(texts, words.shape[-1]).index_add(
        0, text_of_word, weights[:, None] * words
    )
    counts = weights.new_zeros(texts).index_add(0, text_of_word, weights)
    return sums / counts.clamp(min=1)[:, None]
