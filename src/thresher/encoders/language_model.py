"""A Thresher language model that looks both ways, as an encoder of words."""

import copy
import math
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from thresher.encoders.padding import batch_of_words, encode_by_length
from thresher.encoders.protocol import TokenBatch, gate_embeddings
from thresher.encoders.subword_ids import flatten_ids
from thresher.errors import InputError
from thresher.lm.tokens.factory import WordPairs
from thresher.lm.trained_model import TrainedLanguageModel
from thresher.lm.transformer import Transformer


class LanguageModelEncoder:
    """A frozen masked language model over case-folded words, a line end before and after each
    sentence as in the text it learned from.

    layer: the layer whose vectors `encode` returns; by default two thirds of the way up
    """

    def __init__(
        self,
        learned: TrainedLanguageModel,
        *,
        name: str,
        layer: int | None = None,
        device: str | torch.device = "cpu",
    ) -> None:
        self._name = name
        self._tokens = _word_tokens(learned, name)
        self._model = learned.model.to(device).eval().requires_grad_(False)
        if self._model.mask is None:
            raise InputError(
                f"{name} predicts the next token: it knows nothing of what follows a word; "
                "thresher lm train --objective masked makes an encoder"
            )
        self._mask = self._model.mask
        layers = learned.architecture.shape.layers
        self._layer = math.ceil(layers * 2 / 3) if layer is None else layer
        if not 1 <= self._layer <= layers:
            raise InputError(f"{name} has layers 1 to {layers}; got layer {layer}")
        self._lower_layers = _first_layers(self._model.transformer, self._layer)

    @classmethod
    def load(
        cls, folder: str | Path, *, layer: int | None = None, device: str | torch.device = "cpu"
    ) -> "LanguageModelEncoder":
        """The encoder in a folder that `thresher lm train --objective masked` made."""
        return cls(
            TrainedLanguageModel.read(Path(folder)), name=str(folder), layer=layer, device=device
        )

    @property
    def name(self) -> str:
        """The folder it was loaded from."""
        return self._name

    @property
    def width(self) -> int:
        """The width of a hidden vector."""
        return self._model.architecture.shape.width

    @property
    def layer(self) -> int:
        """The layer that `encode` reads."""
        return self._layer

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return self._model.device

    @property
    def common_words(self) -> frozenset[str]:
        """None: its tokens are from the very text whose rare words are asked for."""
        return frozenset()

    def batch(self, sentences: Sequence[Sequence[str]]) -> TokenBatch:
        """Tokens of case-folded words, in windows no longer than the model's context."""
        context, end = self._model.architecture.shape.context, self._tokens.line_end
        words = [word for words in sentences for word in words]
        ids, counts = flatten_ids(self._tokens.encode_words(words))
        return batch_of_words(
            ids,
            counts,
            sentences,
            start=[end],
            end=[end],
            pad=end,
            room=context - 2,
            overlap=context // 4,
        ).to(self.device)

    def encode(self, batch: TokenBatch) -> Tensor:
        """Vectors of the middle layer; the layers above it are not computed."""
        return encode_by_length(self._middle_layer, batch)

    def _middle_layer(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self._lower_layers.each_layer(self._model.embed(ids), mask=mask)[-1]

    def encode_gated(self, batch: TokenBatch, gates: Tensor | None = None) -> Tensor:
        """Vectors of the last layer, word embeddings mixed with the mask's where gates close."""
        embedded = gate_embeddings(self._model.embed(batch.ids), batch, gates, self._mask)
        hidden: Tensor = self._model.transformer(embedded, mask=batch.mask)
        return hidden


def _word_tokens(learned: TrainedLanguageModel, name: str) -> WordPairs:
    if isinstance(learned.tokens, WordPairs):
        return learned.tokens
    raise InputError(
        f"{name} reads {learned.tokens.kind}; an encoder of words needs a language model of "
        f"{WordPairs.kind}, which thresher lm train --objective masked makes"
    )


def _first_layers(transformer: Transformer, layers: int) -> Transformer:
    """A view of the transformer that stops after some layers and shares every parameter."""
    twin = copy.copy(transformer)
    twin._modules = dict(transformer._modules)
    twin.layers = transformer.layers[:layers]
    return twin
