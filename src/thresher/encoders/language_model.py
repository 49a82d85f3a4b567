"""A masked language model trained by Thresher as an encoder of words."""

import copy
import math
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from thresher.checkpoint_files import tensors_digest
from thresher.encoders.padding import batch_of_words, encode_by_length
from thresher.encoders.protocol import TokenBatch, gate_embeddings
from thresher.encoders.subword_ids import flatten_ids
from thresher.encoders.token_windows import WindowLayout
from thresher.encoders.word_graph import MeanHiddenStates, WordGraph
from thresher.errors import InputError
from thresher.lm.model import LanguageModel
from thresher.lm.tokens.word_pairs import WordPairTokenizer
from thresher.lm.trained_model import TrainedLanguageModel
from thresher.lm.transformer import Transformer


class LanguageModelEncoder:
    """A frozen masked language model over case-folded words.

    Each sentence is put between two line ends, as in the training text.

    layer: the layer whose hidden states `encode` returns; by default two thirds of the way up
    """

    def __init__(
        self,
        trained: TrainedLanguageModel,
        *,
        name: str,
        layer: int | None = None,
        device: str | torch.device = "cpu",
    ) -> None:
        self.name = name
        self._tokenizer = _word_tokenizer(trained, name)
        self._model = trained.model.to(device).eval().requires_grad_(False)
        if self._model.mask is None:
            raise InputError(
                f"{name} is a causal language model, which does not see the words after a word; "
                "thresher lm train --objective masked trains an encoder"
            )
        self._mask = self._model.mask
        layers = trained.architecture.shape.layers
        self.layer = math.ceil(layers * 2 / 3) if layer is None else layer
        if not 1 <= self.layer <= layers:
            raise InputError(f"`layer` of {name} must be between 1 and {layers}, got {layer}")
        self._lower_layers = _first_layers(self._model.transformer, self.layer)

    @classmethod
    def load(
        cls, folder: str | Path, *, layer: int | None = None, device: str | torch.device = "cpu"
    ) -> "LanguageModelEncoder":
        """Load an encoder from a folder written by `thresher lm train --objective masked`."""
        return cls(
            TrainedLanguageModel.read(Path(folder)), name=str(folder), layer=layer, device=device
        )

    @property
    def width(self) -> int:
        """The length of a hidden state."""
        return self._model.architecture.shape.width

    @property
    def device(self) -> torch.device:
        """The device the encoder runs on."""
        return self._model.device

    @property
    def common_words(self) -> frozenset[str]:
        """Always empty: frequent names of the training text are single tokens, too."""
        return frozenset()

    def fingerprint(self) -> str:
        """Return a digest of the weights and the tokenizer."""
        return tensors_digest(self._model.weights(), self._tokenizer.to_json())

    def batch(self, sentences: Sequence[Sequence[str]]) -> TokenBatch:
        """Tokenize case-folded words into windows no longer than the model's context."""
        words = [word for words in sentences for word in words]
        ids, counts = flatten_ids(self._tokenizer.encode_words(words))
        return batch_of_words(ids, counts, sentences, self._layout).to(self.device)

    @property
    def _layout(self) -> WindowLayout:
        context, end = self._model.architecture.shape.context, self._tokenizer.line_end
        return WindowLayout(
            start=[end], end=[end], pad=end, max_tokens=context - 2, overlap=context // 4
        )

    def word_graph(self) -> WordGraph:
        """Return the vectors of words as a module."""
        module = MeanHiddenStates(_LowerLayers(self._model, self._lower_layers))
        return WordGraph(module, self._layout, word_pairs=self._tokenizer.to_json())

    def encode(self, batch: TokenBatch) -> Tensor:
        """Return the hidden states of the middle layer; the layers above are not computed."""
        return encode_by_length(self._encode_layer, batch)

    def _encode_layer(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self._lower_layers.hidden_states(self._model.embed(ids), mask=mask)[-1]

    def encode_gated(self, batch: TokenBatch, gates: Tensor | None = None) -> Tensor:
        """Return the hidden states of the last layer; closed gates replace words by the mask."""
        embedded = gate_embeddings(self._model.embed(batch.ids), batch, gates, self._mask)
        hidden: Tensor = self._model.transformer(embedded, mask=batch.mask)
        return hidden


class _LowerLayers(nn.Module):
    """The hidden states of tokens after some layers, from their ids and mask."""

    def __init__(self, model: LanguageModel, lower_layers: Transformer) -> None:
        super().__init__()
        self.model, self.lower_layers = model, lower_layers

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.lower_layers.hidden_states(self.model.embed(ids), mask=mask)[-1]


def _word_tokenizer(trained: TrainedLanguageModel, name: str) -> WordPairTokenizer:
    if isinstance(trained.tokenizer, WordPairTokenizer):
        if not trained.tokenizer.has_line_end:
            raise InputError(f"the tokenizer of {name} has no token for the end of a line")
        return trained.tokenizer
    raise InputError(
        f"{name} has the tokens {trained.tokenizer.kind}; an encoder of words needs a language "
        "model with word-pairs, as trained by thresher lm train --objective masked"
    )


def _first_layers(transformer: Transformer, layers: int) -> Transformer:
    """Return a transformer that stops after some layers and shares all parameters."""
    shared = copy.copy(transformer)
    shared._modules = dict(transformer._modules)
    shared.layers = transformer.layers[:layers]
    return shared
