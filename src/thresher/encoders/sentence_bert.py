"""Sentence-BERT encoders, and other bidirectional transformers."""

import copy
import math
from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from thresher.checkpoint_files import tensors_digest
from thresher.encoders.attention import incoming_and_outgoing
from thresher.encoders.bert import Bert
from thresher.encoders.bert_weights import Weights
from thresher.encoders.int8_bert import Int8Bert, bert_input_ranges
from thresher.encoders.int8_linear import Ranges
from thresher.encoders.packing import encode_packed, encode_words_packed
from thresher.encoders.padding import batch_of_words, encode_by_length
from thresher.encoders.pretrained_files import read_pretrained
from thresher.encoders.protocol import TokenBatch, gate_embeddings, word_vectors
from thresher.encoders.subword_ids import SubwordTokenizer, whole_words
from thresher.encoders.token_windows import WindowLayout
from thresher.encoders.word_graph import HiddenStates, MeanHiddenStates, WordGraph
from thresher.errors import InputError

MAX_TOKENS = 256  # Sentence-BERT models were trained on this; positions beyond are unreliable
_VOCABULARY_BATCH, _SENTENCE_BATCH = 1024, 64
_MASK_TOKENS = ("[MASK]", "<mask>")


class SentenceBert:
    """A frozen transformer over case-folded words.

    The attribute `model` is the transformer in float32, `tokenizer` that of single words.

    label: its name, if that is not the folder
    layer: the layer whose hidden states `encode` returns; by default two thirds of the way up,
        because the last layers of a sentence encoder represent the sentence more than the word
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        layer: int | None = None,
        device: str | torch.device = "cpu",
        label: str | None = None,
    ) -> None:
        self.name = label or str(folder)
        self.device = torch.device(device)
        self.tokenizer, self.model = read_pretrained(Path(folder), device=self.device)
        self._subwords = SubwordTokenizer(self.tokenizer)
        self.layer = math.ceil(self.model.depth * 2 / 3) if layer is None else layer
        if not 1 <= self.layer <= self.model.depth:
            raise InputError(
                f"`layer` of {self.name} must be between 1 and {self.model.depth}, got {layer}"
            )
        self._int8_model: Int8Bert | None = None
        self._embeddings = self.model.word_embeddings
        self._closed = self._closed_embedding()
        self._start, self._end = _special_tokens(self.tokenizer)
        if max((*self._start, *self._end), default=0) >= len(self._embeddings):
            raise InputError(f"the special tokens of {self.name} have no embeddings")
        self._max_tokens = min(MAX_TOKENS, self.model.max_positions or MAX_TOKENS)
        if self._max_tokens // 4 >= self._max_tokens - len(self._start) - len(self._end):
            raise InputError(f"{self.name} has only {self._max_tokens} positions for tokens")

    @property
    def width(self) -> int:
        """The length of a hidden state."""
        return self.model.width

    @property
    def depth(self) -> int:
        """The number of layers."""
        return self.model.depth

    @property
    def precision(self) -> str:
        """The dtype of the matrix products of `encode`: "int8" or "float32"."""
        return "float32" if self._int8_model is None else "int8"

    @property
    def common_words(self) -> frozenset[str]:
        """Words that are a single token."""
        return whole_words(self.tokenizer.get_vocab(with_added_tokens=False))

    def batch(self, sentences: Sequence[Sequence[str]]) -> TokenBatch:
        """Tokenize case-folded words; the windows of a long sentence overlap by a quarter."""
        ids, counts = self._subwords.ids([word for words in sentences for word in words])
        return batch_of_words(ids, counts, sentences, self._layout).to(self.device)

    @property
    def _layout(self) -> WindowLayout:
        return WindowLayout(
            start=self._start,
            end=self._end,
            max_tokens=self._max_tokens - len(self._start) - len(self._end),
            overlap=self._max_tokens // 4,
        )

    def encode(self, batch: TokenBatch) -> Tensor:
        """Return the hidden states of the middle layer; the layers above are not computed."""
        return self._hidden_states(batch)

    def encode_by_word(self, batch: TokenBatch) -> Tensor:
        """Return the mean of each word's hidden states in the middle layer: (words, width)."""
        if self._int8_model:
            return encode_words_packed(self._int8_model, batch, width=self.width)
        return word_vectors(self._hidden_states(batch), batch)

    def _hidden_states(self, batch: TokenBatch) -> Tensor:
        if self._int8_model:
            return encode_packed(self._int8_model, batch, width=self.width)
        return encode_by_length(self._encode_layer, batch)

    def _encode_layer(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.model(self._embed(ids), mask, layers=self.layer)

    def _embed(self, ids: Tensor) -> Tensor:
        return functional.embedding(ids, self._embeddings).float()

    def encode_gated(self, batch: TokenBatch, gates: Tensor | None = None) -> Tensor:
        """Return the hidden states of the last layer; closed gates replace words by the mask."""
        embedded = gate_embeddings(self._embed(batch.ids), batch, gates, self._closed)
        return self.model(embedded, batch.mask, layers=self.model.depth)

    def input_ranges(self, sentences: Sequence[Sequence[str]]) -> dict[str, Tensor]:
        """Measure the input ranges of the layers that `encode` uses; empty if it is not BERT."""
        if not isinstance(self.model, Bert):
            return {}

        def encode_all() -> None:
            for low in range(0, len(sentences), _SENTENCE_BATCH):
                batch = self.batch(sentences[low : low + _SENTENCE_BATCH])
                encode_by_length(self._encode_layer, batch)

        with torch.inference_mode():
            return bert_input_ranges(self.model, encode_all)

    def to_int8(self, ranges: Ranges) -> "SentenceBert":
        """Return an encoder that shares all weights and, if it is BERT, runs `encode` in int8."""
        shared = copy.copy(self)
        if isinstance(self.model, Bert):
            shared._int8_model = Int8Bert(self.model, ranges, layers=self.layer)
        return shared

    def with_layers(self, weights: Weights) -> "SentenceBert":
        """Return an encoder with the same word embeddings and other layers, for example fewer.

        `encode` returns the hidden states of the last of them.

        weights: as `Bert.layer_weights` returns them
        """
        if not isinstance(self.model, Bert):
            raise InputError(f"the layers of {self.name} cannot be replaced: it is not BERT")
        model = self.model.with_layers(weights).to(self.device).eval()
        if model.max_positions < self._max_tokens:
            raise InputError(f"the layers have only {model.max_positions} positions for tokens")
        shared = copy.copy(self)
        shared.model, shared.layer = model, model.depth
        return shared

    def word_graph(self) -> WordGraph:
        """Return `encode_by_word` in float32 as a module."""
        module = MeanHiddenStates(HiddenStates(self.model, self.layer))
        return WordGraph(module, self._layout, tokenizer=self.tokenizer.to_str())

    def fingerprint(self) -> str:
        """Return a digest of the weights and the tokenizer; the same in float32 and in int8."""
        return tensors_digest(self.model.state_dict(), self.tokenizer.to_str())

    def token_vectors(self) -> Tensor:
        """Return `encode` of each vocabulary token by itself: (vocabulary, width)."""
        vectors = torch.empty(len(self._embeddings), self.width)
        for low in range(0, len(vectors), _VOCABULARY_BATCH):
            tokens = range(low, min(low + _VOCABULARY_BATCH, len(vectors)))
            ids = torch.tensor([[*self._start, each, *self._end] for each in tokens])
            ids = ids.to(self.device)
            with torch.inference_mode():
                hidden = self._encode_layer(ids, torch.ones_like(ids))
            vectors[tokens.start : tokens.stop] = hidden[:, len(self._start)].cpu()
        return vectors

    def attention(self, batch: TokenBatch, *, layer: int | None = None) -> Tensor:
        """Return the incoming and outgoing attention of each token: (windows, tokens, 2).

        layer: by default the mean over all layers up to the one that `encode` returns
        """
        last = self.layer if layer is None else layer
        if not 1 <= last <= self.model.depth:
            raise InputError(
                f"{self.name} has attention in layers 1 to {self.model.depth}; got {layer}"
            )

        def attend(ids: Tensor, mask: Tensor, word: Tensor) -> Tensor:
            attention = self.model.attention(self._embed(ids), mask, layers=last)
            chosen = attention if layer is None else attention[-1:]
            return torch.stack([incoming_and_outgoing(each, word) for each in chosen]).mean(0)

        return encode_by_length(attend, batch, batch.word)

    def _closed_embedding(self) -> Tensor:
        """Return the embedding of the mask token, or the mean embedding if there is none."""
        ids = map(self.tokenizer.token_to_id, _MASK_TOKENS)
        mask = next((each for each in ids if each is not None), None)
        if mask is None:
            return self._embeddings.mean(0, dtype=torch.float32)
        return self._embeddings[mask].float()


def _special_tokens(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """Return the ids that a tokenizer adds before and after a sentence."""
    plain = tokenizer.encode("a", add_special_tokens=False).ids
    ids = tokenizer.encode("a").ids
    starts = (i for i in range(len(ids)) if ids[i : i + len(plain)] == plain)
    start = next(starts, None)
    if start is None:
        raise InputError("the tokenizer changes the tokens of a text when it adds special tokens")
    return ids[:start], ids[start + len(plain) :]
