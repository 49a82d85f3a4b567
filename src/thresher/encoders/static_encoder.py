"""An encoder without a transformer: token vectors and a convolution over the words of a sentence.

    x⁰ = the mean of a word's token vectors
    xˡ = LayerNorm(xˡ⁻¹ + GELU(Wˡ [xˡ⁻¹ of the words −r … +r] + bˡ))

Positions outside the sentence are filled with one trained vector, the edge.
"""

from collections.abc import Sequence
from functools import partial

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from thresher.checkpoint_files import tensors_digest
from thresher.encoders.padding import batch_of_words
from thresher.encoders.protocol import TokenBatch, word_vectors
from thresher.encoders.subword_ids import SubwordTokenizer, whole_words
from thresher.encoders.token_windows import WindowLayout
from thresher.encoders.word_graph import WordGraph, mean_per_word
from thresher.maths.row_blocks import in_row_blocks

NAME = "static"
LAYERS, REACH = 2, 2


class StaticEncoder(nn.Module):
    """Looks up token vectors and mixes those of neighbouring words.

    vectors: (vocabulary, width), one for each token of the tokenizer
    layers: those of the convolution
    reach: the number of neighbours on each side that one layer mixes
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        vectors: Tensor,
        *,
        layers: int = LAYERS,
        reach: int = REACH,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        width = vectors.shape[1]
        self.tokenizer = tokenizer
        self.reach = reach
        self.dropout = dropout
        self.exact = False
        """Find in single precision; otherwise CPUs round the factors of products to ten bits."""
        self.subwords = SubwordTokenizer(tokenizer)
        self.vectors = nn.Parameter(vectors)
        self.edge = nn.Parameter(torch.zeros(width))
        self.mixing = nn.ModuleList(
            nn.Linear(width * (2 * reach + 1), width) for _ in range(layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))

    @property
    def name(self) -> str:
        """A fixed name: the encoder is saved in the folder of the model that uses it."""
        return NAME

    @property
    def width(self) -> int:
        """The length of a vector."""
        return self.vectors.shape[1]

    @property
    def layer(self) -> int:
        """The last layer of the convolution."""
        return len(self.mixing)

    @property
    def device(self) -> torch.device:
        """The device the encoder runs on."""
        return self.vectors.device

    @property
    def common_words(self) -> frozenset[str]:
        """Words that are a single token."""
        return whole_words(self.tokenizer.get_vocab(with_added_tokens=False))

    def fingerprint(self) -> str:
        """Return a digest of the weights and the tokenizer."""
        return tensors_digest(self.state_dict(), self.tokenizer.to_str())

    def batch(self, sentences: Sequence[Sequence[str]]) -> TokenBatch:
        """Tokenize into one window per sentence of any length, without special tokens."""
        ids, counts = self.subwords.ids([word for words in sentences for word in words])
        return batch_of_words(ids, counts, sentences, WindowLayout()).to(self.device)

    def encode(self, batch: TokenBatch) -> Tensor:
        """Return for each token the vector of its word: (windows, tokens, width)."""
        return self.encode_gated(batch)

    def encode_gated(self, batch: TokenBatch, gates: Tensor | None = None) -> Tensor:
        """Equal to `encode` with gates: a closed word is replaced by the mean token vector."""
        return self._encode_words(batch, gates)[batch.word.clamp(min=0)]

    def encode_by_word(self, batch: TokenBatch) -> Tensor:
        """Return the vector of each word, zero if it has no tokens: (words, width)."""
        hidden = self._encode_words(batch, None)
        absent = torch.ones(batch.words, dtype=torch.bool, device=hidden.device)
        absent[batch.word[batch.word >= 0]] = False
        return hidden.masked_fill(absent[:, None], 0.0)

    def _encode_words(self, batch: TokenBatch, gates: Tensor | None) -> Tensor:
        words = word_vectors(functional.embedding(batch.ids, self.vectors), batch)
        if gates is not None:
            words = gates[:, None] * words + (1 - gates[:, None]) * self.vectors.mean(0)
        return self.mix_neighbours(words, batch.sentence_of_word)

    def word_graph(self) -> WordGraph:
        """Return `encode_by_word` as a module."""
        return WordGraph(_StaticGraph(self), WindowLayout(), tokenizer=self.tokenizer.to_str())

    def mix_neighbours(self, words: Tensor, sentence: Tensor) -> Tensor:
        """Apply the convolution.   words: (words, width)   sentence: (words,)"""
        index = neighbours(sentence, reach=self.reach)
        x = functional.dropout(words, self.dropout, training=self.training)
        for mixing, norm in zip(self.mixing, self.norms, strict=True):
            around = torch.cat([x, self.edge[None]])[index].flatten(1)
            x = in_row_blocks(partial(_layer, mixing, norm), x, around)
        return x


class _StaticGraph(nn.Module):
    """`StaticEncoder.encode_by_word` as a module that can be exported."""

    def __init__(self, encoder: StaticEncoder) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, ids: Tensor, mask: Tensor, word: Tensor, sentence_of_word: Tensor) -> Tensor:
        tokens = functional.embedding(ids, self.encoder.vectors)
        vectors, count = mean_per_word(tokens, word, sentence_of_word)
        mixed = self.encoder.mix_neighbours(vectors, sentence_of_word)
        return mixed * (count > 0).to(mixed.dtype)[:, None]


def _layer(mixing: nn.Module, norm: nn.Module, x: Tensor, around: Tensor) -> Tensor:
    mixed: Tensor = norm(x + functional.gelu(mixing(around)))
    return mixed


def neighbours(sentence: Tensor, *, reach: int) -> Tensor:
    """Return the indices of the words around each word: (words, 2 · reach + 1).

    Outside the sentence, the index is the number of words.

    sentence: (words,), ascending
    """
    words = len(sentence)
    shifts = torch.arange(-reach, reach + 1, device=sentence.device)
    index = torch.arange(words, device=sentence.device)[:, None] + shifts
    near = index.clamp(0, max(words - 1, 0))
    same = (near == index) & (sentence[near] == sentence[:, None])
    return torch.where(same, index, words)
