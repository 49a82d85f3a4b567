"""The classifier of texts, and the encoder that turns gated texts into its input."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.encoders.activation_checkpointing import encode_checkpointed
from thresher.encoders.protocol import Encoder, TokenBatch, sentence_vectors, word_vectors
from thresher.gates.choices import GatePosition
from thresher.gates.optimization import seeded
from thresher.validation import require_choice


class Classifier(nn.Module):
    """Two layers on the vector of a text: W₂ GELU(W₁ LayerNorm(v)).

    vectors: (texts, width)   returns: logits (texts, labels)
    """

    def __init__(self, width: int, labels: int, *, hidden: int = 256) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, hidden)
        self.outer = nn.Linear(hidden, labels)

    def forward(self, vectors: Tensor) -> Tensor:
        """Return the logits of each text."""
        logits: Tensor = self.outer(functional.gelu(self.inner(self.norm(vectors))))
        return logits


def seeded_classifier(seed: int, width: int, labels: int, *, hidden: int) -> Classifier:
    """Return a new classifier whose weights depend on the seed alone."""
    with seeded(seed):
        return Classifier(width, labels, hidden=hidden)


@dataclass(frozen=True)
class GatedEncoder:
    """Encodes each text as one vector, without the words whose gates are closed.

    gates_at: "input" replaces closed words before the encoder reads the text, so that no
        information about them is left; "pool" leaves their vectors out of the mean, although the
        vectors of other words were computed with them
    """

    encoder: Encoder
    gates_at: str = "input"

    def __post_init__(self) -> None:
        require_choice("gates_at", self.gates_at, GatePosition)

    def vectors(self, batch: TokenBatch, z: Tensor | None = None) -> Tensor:
        """Return the vectors of texts whose word w has the gate z[w]: (texts, width)."""
        if self.gates_at == GatePosition.INPUT:
            return sentence_vectors(encode_checkpointed(self.encoder, batch, z), batch)
        with torch.no_grad():
            words = word_vectors(encode_checkpointed(self.encoder, batch), batch)
        weights = words.new_ones(batch.words) if z is None else z
        return _weighted_mean(words, weights, batch.sentence_of_word, batch.sentences)


def _weighted_mean(words: Tensor, weights: Tensor, text_of_word: Tensor, texts: int) -> Tensor:
    """Return Σ z v / max(Σ z, 1) over the words of each text.

    The lower bound keeps the gradient small for texts whose gates are nearly all closed.
    """
    sums = words.new_zeros(texts, words.shape[-1]).index_add(
        0, text_of_word, weights[:, None] * words
    )
    counts = weights.new_zeros(texts).index_add(0, text_of_word, weights)
    return sums / counts.clamp(min=1)[:, None]
