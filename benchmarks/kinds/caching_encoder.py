"""An encoder that computes the vectors of each sentence once, for runs over seeds and cases."""

from collections.abc import Sequence

import torch
from torch import Tensor

from thresher.encoders.protocol import TokenBatch, word_vectors
from thresher.encoders.sentence_bert import SentenceBert

Sentences = Sequence[Sequence[str]]


class CachingEncoder:
    """The same encoder; case-folded sentences that were encoded before are looked up.

    Vectors are kept in half precision.
    """

    def __init__(self, encoder: SentenceBert) -> None:
        self._encoder = encoder
        self._vectors: dict[tuple[str, ...], Tensor] = {}
        self._sentences: Sentences = ()
        self.name, self.width, self.layer = encoder.name, encoder.width, encoder.layer
        self.device, self.common_words = encoder.device, encoder.common_words
        self.encode, self.encode_gated = encoder.encode, encoder.encode_gated

    def batch(self, sentences: Sentences) -> TokenBatch:
        """Tokenize sentences; `encode_by_word` must be called with the last batch."""
        self._sentences = sentences
        return self._encoder.batch(sentences)

    def encode_by_word(self, batch: TokenBatch) -> Tensor:
        """Return the vectors of all words, and remember them: (words, width)."""
        keys = [tuple(word.casefold() for word in words) for words in self._sentences]
        new = [key for key in dict.fromkeys(keys) if key not in self._vectors]
        if new:
            computed = self._encoder.batch(new)
            vectors = word_vectors(self._encoder.encode(computed), computed).half()
            self._vectors.update(zip(new, torch.split(vectors, list(map(len, new))), strict=True))
        return torch.cat([self._vectors[key] for key in keys]).float()
