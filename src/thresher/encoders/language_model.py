"""A Thresher language model that looks both ways, as an encoder of words."""

import copy
import math
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from thresher.encoders.padding import padded_batch
from thresher.encoders.protocol import TokenBatch
from thresher.encoders.windows import windows
from thresher.errors import InputError
from thresher.lm.learned import LearnedModel
from thresher.lm.tokens import WordPairs
from thresher.lm.transformer import Transformer


class LanguageModelEncoder:
    """A frozen masked language model over case-folded words, a line end before and after each
    sentence as in the text it learned from.

    layer: the layer whose vectors `encode` returns; by default two thirds of the way up
    """

    def __init__(
        self,
        learned: LearnedModel,
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
        return cls(LearnedModel.read(Path(folder)), name=str(folder), layer=layer, device=device)

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
        ids: list[list[int]] = []
        word: list[list[int]] = []
        sentence: list[int] = []
        offset = 0
        for number, words in enumerate(sentences):
            pieces = self._tokens.encode_words(words)
            tokens = [token for piece in pieces for token in piece]
            owner = [offset + i for i, piece in enumerate(pieces) for _ in piece]
            for low, high in windows(len(tokens), size=context - 2, overlap=context // 4):
                ids.append([end, *tokens[low:high], end])
                word.append([-1, *owner[low:high], -1])
                sentence.append(number)
            offset += len(words)
        lengths = [len(words) for words in sentences]
        return padded_batch(ids, word, sentence, lengths, pad=end).to(self.device)

    def encode(self, batch: TokenBatch) -> Tensor:
        """Vectors of the middle layer; the layers above it are not computed."""
        embedded = self._model.embed(batch.ids)
        return self._lower_layers.each_layer(embedded, mask=batch.mask)[-1]

    def encode_gated(self, batch: TokenBatch, gates: Tensor | None = None) -> Tensor:
        """Vectors of the last layer, word embeddings mixed with the mask's where gates close."""
        embedded = self._model.embed(batch.ids)  # (windows, tokens, width)
        if gates is not None:
            gate = torch.where(batch.word >= 0, gates[batch.word.clamp(min=0)], 1.0)[..., None]
            embedded = gate * embedded + (1 - gate) * self._mask
        hidden: Tensor = self._model.transformer(embedded, mask=batch.mask)
        return hidden


def _word_tokens(learned: LearnedModel, name: str) -> WordPairs:
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
