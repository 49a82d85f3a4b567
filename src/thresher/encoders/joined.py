"""Several encoders side by side: the vector of a word is the concatenation of theirs.

A multilingual encoder knows a language from other languages, an encoder trained on raw text of the
language knows its names; gates can use both.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from thresher.encoders.protocol import Encoder, TokenBatch, WordEncoder, word_vectors
from thresher.errors import InputError

SEPARATOR = "+"


@dataclass(frozen=True)
class JoinedBatch(TokenBatch):
    """The batch of the first encoder, with those of the others; words are numbered alike."""

    others: tuple[TokenBatch, ...] = ()


class JoinedEncoder:
    """Concatenates the word vectors of several encoders.

    Gates at the input, which the contrast needs, are those of the first encoder. There are no
    vectors of single tokens, because each encoder has its own.
    """

    def __init__(self, encoders: Sequence[Encoder]) -> None:
        # The types are compared, because "cuda" and "cuda:0" are the same device.
        if len(encoders) < 2 or len({each.device.type for each in encoders}) > 1:
            raise ValueError("a joined encoder needs at least two encoders on one device")
        self.encoders: tuple[Encoder, ...] = tuple(
            part
            for each in encoders
            for part in (each.encoders if isinstance(each, JoinedEncoder) else (each,))
        )
        self.name = SEPARATOR.join(each.name for each in self.encoders)
        self.width = sum(each.width for each in self.encoders)
        self.layer = 0  # each of the joined encoders has its own
        self.device = self.encoders[0].device
        self.common_words = frozenset.intersection(*(each.common_words for each in self.encoders))

    def batch(self, sentences: Sequence[Sequence[str]]) -> JoinedBatch:
        """Tokenize sentences with every encoder."""
        first, *others = (each.batch(sentences) for each in self.encoders)
        values = {each.name: getattr(first, each.name) for each in fields(first)}
        return JoinedBatch(**values, others=tuple(others))

    def encode(self, batch: TokenBatch) -> Tensor:
        """Raise InputError: there are vectors of words only."""
        raise InputError(f"{self.name} has vectors of words only; `unit` must be word")

    def encode_by_word(self, batch: TokenBatch) -> Tensor:
        """Return the vectors of all encoders side by side: (words, width)."""
        assert isinstance(batch, JoinedBatch)
        batches = (batch, *batch.others)
        return torch.cat(
            [_encode_words(*each) for each in zip(self.encoders, batches, strict=True)], dim=1
        )

    def encode_gated(self, batch: TokenBatch, gates: Tensor | None = None) -> Tensor:
        """Return the hidden states of the first encoder's last layer, with gates on the input."""
        return self.encoders[0].encode_gated(batch, gates)


def _encode_words(encoder: Encoder, batch: TokenBatch) -> Tensor:
    if isinstance(encoder, WordEncoder):
        return encoder.encode_by_word(batch)
    return word_vectors(encoder.encode(batch), batch)
