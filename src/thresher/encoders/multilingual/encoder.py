"""multilingual-e5-small as an encoder: about a hundred languages with one vocabulary.

Its hidden states all point in nearly the same direction, and a few of their dimensions are much
larger than the others. Therefore the mean over words of many languages is subtracted, and every
dimension is divided by its standard deviation.
"""

from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path

import torch
from torch import Tensor

from thresher.encoders.choices import MULTILINGUAL_ENCODER
from thresher.encoders.multilingual.word_starts import mark_spaces_only
from thresher.encoders.protocol import TokenBatch
from thresher.encoders.sentence_bert import SentenceBert
from thresher.encoders.word_graph import HiddenStates, MeanHiddenStates, Standardized, WordGraph
from thresher.tensor_files import load_tensors

DEFAULT_LAYER = 7
_STATISTICS = "statistics.safetensors"


class MultilingualE5(SentenceBert):
    """multilingual-e5-small over case-folded words, with standardized hidden states.

    layer: the layer whose hidden states `encode` returns, by default 7 of 12
    """

    def __init__(
        self, folder: str | Path, *, layer: int | None = None, device: str | torch.device = "cpu"
    ) -> None:
        layer = DEFAULT_LAYER if layer is None else layer
        super().__init__(folder, layer=layer, device=device, label=MULTILINGUAL_ENCODER)
        mark_spaces_only(self.tokenizer)

    def encode(self, batch: TokenBatch) -> Tensor:
        """Return the standardized hidden states of the middle layer."""
        return _standardized(super().encode(batch), self.layer)

    def encode_by_word(self, batch: TokenBatch) -> Tensor:
        """Return the mean of each word's standardized hidden states in the middle layer."""
        return _standardized(super().encode_by_word(batch), self.layer)

    def encode_gated(self, batch: TokenBatch, gates: Tensor | None = None) -> Tensor:
        """Return the standardized hidden states of the last layer, with gates on the input."""
        return _standardized(super().encode_gated(batch, gates), self.depth)

    def word_graph(self) -> WordGraph:
        """Return `encode_by_word` in float32 as a module."""
        mean, deviation = _statistics()[self.layer].unbind()
        means = MeanHiddenStates(HiddenStates(self.model, self.layer))
        module = Standardized(means, mean, deviation)
        return replace(super().word_graph(), module=module)

    def token_vectors(self) -> Tensor:
        """Return `encode` of each vocabulary token by itself: (vocabulary, width)."""
        return _standardized(super().token_vectors(), self.layer)


def _standardized(hidden: Tensor, layer: int) -> Tensor:
    mean, deviation = _statistics()[layer].to(hidden.device).unbind()
    standardized: Tensor = (hidden - mean) / deviation
    return standardized


@cache
def _statistics() -> Tensor:
    """Return the mean and standard deviation of hidden states: (layers + 1, 2, width)."""
    content = files("thresher.encoders.multilingual").joinpath(_STATISTICS).read_bytes()
    return load_tensors(content, _STATISTICS)["statistics"].float()
