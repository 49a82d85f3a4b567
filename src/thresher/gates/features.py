"""What a selector reads of a sentence, and what gets a gate: words, or the tokens within them."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from thresher.encoders.attention import ATTENTION_FEATURES, AttentionEncoder
from thresher.encoders.protocol import Encoder, TokenBatch, WordEncoder, word_vectors
from thresher.errors import InputError

MEAN = "mean"


@dataclass(frozen=True)
class Features:
    """A gate for each "word" or each "subword", with attention or without.

    attention: a layer of the encoder, "mean" for the mean of the layers it reads, None for none
    """

    unit: str = "word"
    attention: int | str | None = None

    def width(self, encoder: Encoder) -> int:
        """The length of what the selector reads of each unit."""
        return encoder.width + (0 if self.attention is None else ATTENTION_FEATURES)

    def batch(self, encoder: Encoder, sentences: Sequence[Sequence[str]]) -> TokenBatch:
        """Sentences as tokens, the units of which are numbered as words."""
        batch = encoder.batch(sentences)
        return batch if self.unit == "word" else batch.tokens_as_words()

    def read(self, encoder: Encoder, sentences: Sequence[Sequence[str]]) -> Tensor:
        """The vectors of all units, in one batch: (units, width)."""
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
            raise InputError(f"the encoder {encoder.name} does not tell its attention")
        return encoder.attention(
            batch, layer=self.attention if isinstance(self.attention, int) else None
        )
