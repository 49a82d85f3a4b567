"""The input of a selector: one vector per unit (word or subword), optionally with attention."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from thresher.encoders.attention import ATTENTION_FEATURES, AttentionEncoder
from thresher.encoders.protocol import Encoder, TokenBatch, WordEncoder, word_vectors
from thresher.errors import InputError
from thresher.gates.choices import GateUnit

MEAN_ATTENTION = "mean"


@dataclass(frozen=True)
class Features:
    """The input of a selector: the hidden state of each unit, with or without attention features.

    unit: what has a gate, a "word" or each "subword"
    attention: the encoder layer whose attention is used, "mean" for the mean of the layers that
        the encoder computes, None for no attention features
    """

    unit: str = "word"
    attention: int | str | None = None

    def width(self, encoder: Encoder) -> int:
        """Return the length of the vector of each unit."""
        return encoder.width + (0 if self.attention is None else ATTENTION_FEATURES)

    def batch(self, encoder: Encoder, sentences: Sequence[Sequence[str]]) -> TokenBatch:
        """Return the sentences as tokens, with the units numbered as words."""
        batch = encoder.batch(sentences)
        return batch if self.unit == GateUnit.WORD else batch.tokens_as_words()

    def encode(self, encoder: Encoder, sentences: Sequence[Sequence[str]]) -> Tensor:
        """Return the vectors of all units, encoded in one batch: (units, width)."""
        with torch.inference_mode():
            batch = self.batch(encoder, sentences)
            if self.attention is None and isinstance(encoder, WordEncoder):
                return encoder.encode_by_word(batch)
            hidden = encoder.encode(batch)
            if self.attention is not None:
                hidden = torch.cat([hidden, self._attention(encoder, batch)], dim=-1)
            return word_vectors(hidden, batch)

    def _attention(self, encoder: Encoder, batch: TokenBatch) -> Tensor:
        if not isinstance(encoder, AttentionEncoder):
            raise InputError(
                f"the encoder {encoder.name} gives no attention weights; `attention` must be None"
            )
        return encoder.attention(
            batch, layer=self.attention if isinstance(self.attention, int) else None
        )
