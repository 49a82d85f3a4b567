"""An encoder with no transformer: a vector for each token, and what stands around each word.

    x⁰ = the mean of a word's token vectors
    xˡ = LayerNorm(xˡ⁻¹ + GELU(Wˡ [xˡ⁻¹ of the words −r … +r] + bˡ))

Beyond the ends of a sentence stands one learned vector, the edge.
"""

from collections.abc import Sequence

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from thresher.encoders.common_words import whole_words
from thresher.encoders.padding import batch_of_words
from thresher.encoders.protocol import TokenBatch, word_vectors
from thresher.encoders.subword_ids import SubwordTokenizer

NAME = "static"
LAYERS, REACH = 2, 2


class StaticEncoder(nn.Module):
    """Token vectors and a convolution over words; what it needs of a sentence is a look-up.

    vectors: (vocabulary, width), one for each token of the tokenizer
    layers, reach: of the convolution; a word is read with layers · reach others on each side
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
        self._subwords = SubwordTokenizer(tokenizer)
        self.vectors = nn.Parameter(vectors)
        self.edge = nn.Parameter(torch.zeros(width))
        self.mixing = nn.ModuleList(
            nn.Linear(width * (2 * reach + 1), width) for _ in range(layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))

    @property
    def name(self) -> str:
        """It has no name to be loaded by: it lives in the folder of the model that reads it."""
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
        """Where it computes."""
        return self.vectors.device

    @property
    def common_words(self) -> frozenset[str]:
        """Words that are one token each."""
        return whole_words(self.tokenizer.get_vocab(with_added_tokens=False))

    def batch(self, sentences: Sequence[Sequence[str]]) -> TokenBatch:
        """A window for each sentence, however long, with no special tokens."""
        ids, counts = self._subwords.ids([word for words in sentences for word in words])
        return batch_of_words(ids, counts, sentences).to(self.device)

    def encode(self, batch: TokenBatch) -> Tensor:
        """For each token the vector of its word among its neighbours."""
        return self.encode_gated(batch)

    def encode_gated(self, batch: TokenBatch, gates: Tensor | None = None) -> Tensor:
        """The same with word w let through by gates[w]; a closed word is the mean of all tokens."""
        return self._read(batch, gates)[batch.word.clamp(min=0)]

    def encode_by_word(self, batch: TokenBatch) -> Tensor:
        """The vector of each word among its neighbours, zero if it has no tokens."""
        hidden = self._read(batch, None)
        absent = torch.ones(batch.words, dtype=torch.bool, device=hidden.device)
        absent[batch.word[batch.word >= 0]] = False
        return hidden.masked_fill(absent[:, None], 0.0)

    def _read(self, batch: TokenBatch, gates: Tensor | None) -> Tensor:
        words = word_vectors(functional.embedding(batch.ids, self.vectors), batch)
        if gates is not None:
            words = gates[:, None] * words + (1 - gates[:, None]) * self.vectors.mean(0)
        return self._among_neighbours(words, batch.sentence_of_word)

    def _among_neighbours(self, words: Tensor, sentence: Tensor) -> Tensor:
        """words: (words, width)   sentence: (words,)   returns: (words, width)"""
        places = neighbours(sentence, reach=self.reach)
        x = functional.dropout(words, self.dropout, training=self.training)
        for mixing, norm in zip(self.mixing, self.norms, strict=True):
            around = torch.cat([x, self.edge[None]])[places].flatten(1)
            x = norm(x + functional.gelu(mixing(around)))
        return x


def neighbours(sentence: Tensor, *, reach: int) -> Tensor:
    """The places of the words around each word; beyond its sentence the place after the last word.

    sentence: (words,), in order   returns: (words, 2 · reach + 1)
    """
    words = len(sentence)
    shifts = torch.arange(-reach, reach + 1, device=sentence.device)
    places = torch.arange(words, device=sentence.device)[:, None] + shifts
    near = places.clamp(0, max(words - 1, 0))
    same = (near == places) & (sentence[near] == sentence[:, None])
    return torch.where(same, places, words)
