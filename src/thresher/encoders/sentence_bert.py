"""Sentence-BERT encoders, and other bidirectional transformers."""

import copy
import math
from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from thresher.encoders.attention import incoming_and_outgoing
from thresher.encoders.bert import Bert
from thresher.encoders.common_words import whole_words
from thresher.encoders.int8_bert import Int8Bert, bert_input_ranges
from thresher.encoders.int8_linear import Ranges
from thresher.encoders.packing import encode_packed, encode_words_packed
from thresher.encoders.padding import batch_of_words, encode_by_length
from thresher.encoders.pretrained_files import read_pretrained
from thresher.encoders.protocol import TokenBatch, gate_embeddings, word_vectors
from thresher.encoders.subword_ids import SubwordTokenizer
from thresher.errors import InputError

MOST_TOKENS = 256  # what Sentence-BERT models were trained on; positions beyond are unreliable
_TOKENS_AT_ONCE, _SENTENCES_AT_ONCE = 1024, 64
_MASKS = ("[MASK]", "<mask>")  # how tokenizers write it


class SentenceBert:
    """A frozen transformer over case-folded words.

    label: its name, where that is not the folder
    layer: the layer whose vectors `encode` returns; by default two thirds of the way up. The last
    layers of a sentence encoder forget what a single word is in favour of what the sentence says.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        layer: int | None = None,
        device: str | torch.device = "cpu",
        label: str | None = None,
    ) -> None:
        self._name = label or str(folder)
        self._device = torch.device(device)
        self._tokenizer, self._model = read_pretrained(Path(folder), device=self._device)
        self._subwords = SubwordTokenizer(self._tokenizer)
        self._layer = math.ceil(self._model.depth * 2 / 3) if layer is None else layer
        if not 1 <= self._layer <= self._model.depth:
            raise InputError(f"{self._name} has layers 1 to {self._model.depth}; got layer {layer}")
        self._int8_model: Int8Bert | None = None
        self._embeddings = self._model.words
        self._closed = self._closed_embedding()
        self._start, self._end = _special_tokens(self._tokenizer)
        self._most = min(MOST_TOKENS, self._model.positions or MOST_TOKENS)

    @property
    def name(self) -> str:
        """The name it was loaded by."""
        return self._name

    @property
    def width(self) -> int:
        """The width of a hidden vector."""
        return self._model.width

    @property
    def layer(self) -> int:
        """The layer that `encode` reads."""
        return self._layer

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return self._device

    @property
    def common_words(self) -> frozenset[str]:
        """Words that are one token each."""
        return whole_words(self._tokenizer.get_vocab(with_added_tokens=False))

    def batch(self, sentences: Sequence[Sequence[str]]) -> TokenBatch:
        """Tokens of case-folded words, in windows that share a quarter with their neighbours."""
        ids, counts = self._subwords.ids([word for words in sentences for word in words])
        return batch_of_words(
            ids,
            counts,
            sentences,
            start=self._start,
            end=self._end,
            room=self._most - len(self._start) - len(self._end),
            overlap=self._most // 4,
        ).to(self._device)

    def encode(self, batch: TokenBatch) -> Tensor:
        """Vectors of the middle layer; the layers above it are not computed."""
        if self._int8_model:
            return encode_packed(self._int8_model, batch, width=self.width)
        return encode_by_length(self._middle_layer, batch)

    def encode_by_word(self, batch: TokenBatch) -> Tensor:
        """The mean of each word's vectors of the middle layer: (words, width)."""
        if self._int8_model:
            return encode_words_packed(self._int8_model, batch, width=self.width)
        return word_vectors(self.encode(batch), batch)

    def _middle_layer(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self._model(self._embedded(ids), mask, layers=self._layer)

    def _embedded(self, ids: Tensor) -> Tensor:
        return functional.embedding(ids, self._embeddings)

    def encode_gated(self, batch: TokenBatch, gates: Tensor | None = None) -> Tensor:
        """Vectors of the last layer, word embeddings mixed with the mask's where gates close."""
        embedded = gate_embeddings(self._embedded(batch.ids), batch, gates, self._closed)
        return self._model(embedded, batch.mask, layers=self._model.depth)

    def input_ranges(self, sentences: Sequence[Sequence[str]]) -> dict[str, Tensor]:
        """What the layers that `encode` reads are given for some sentences, if they are BERT's."""
        if not isinstance(self._model, Bert):
            return {}

        def read() -> None:
            for low in range(0, len(sentences), _SENTENCES_AT_ONCE):
                batch = self.batch(sentences[low : low + _SENTENCES_AT_ONCE])
                encode_by_length(self._middle_layer, batch)

        with torch.inference_mode():
            return bert_input_ranges(self._model, read)

    def to_int8(self, ranges: Ranges) -> "SentenceBert":
        """The same encoder on a CPU, where it is BERT with `encode` in eight bits."""
        twin = copy.copy(self)
        if isinstance(self._model, Bert):
            twin._int8_model = Int8Bert(self._model, ranges, layers=self._layer)
        return twin

    @property
    def tokenizer(self) -> Tokenizer:
        """What makes tokens of words."""
        return self._tokenizer

    def token_vectors(self) -> Tensor:
        """What `encode` makes of each token of the vocabulary alone: (vocabulary, width)."""
        vectors = torch.empty(len(self._embeddings), self.width)
        for low in range(0, len(vectors), _TOKENS_AT_ONCE):
            own = range(low, min(low + _TOKENS_AT_ONCE, len(vectors)))
            ids = torch.tensor([[*self._start, each, *self._end] for each in own])
            ids = ids.to(self._device)
            with torch.inference_mode():
                hidden = self._middle_layer(ids, torch.ones_like(ids))
            vectors[own.start : own.stop] = hidden[:, len(self._start)].cpu()
        return vectors

    def attention(self, batch: TokenBatch, *, layer: int | None = None) -> Tensor:
        """Incoming and outgoing attention in a layer, or the mean of those `encode` reads."""
        last = self._layer if layer is None else layer
        if not 1 <= last <= self._model.depth:
            raise InputError(
                f"{self._name} has attention in layers 1 to {self._model.depth}; got {layer}"
            )

        def attended(ids: Tensor, mask: Tensor, word: Tensor) -> Tensor:
            attention = self._model.attention(self._embedded(ids), mask, layers=last)
            chosen = attention if layer is None else attention[-1:]
            shares = [incoming_and_outgoing(weights, word) for weights in chosen]
            return torch.stack(shares).mean(0)

        return encode_by_length(attended, batch, batch.word)

    def _closed_embedding(self) -> Tensor:
        """The mask token's embedding, or the mean of all where there is no mask token."""
        ids = map(self._tokenizer.token_to_id, _MASKS)
        mask = next((each for each in ids if each is not None), None)
        return self._embeddings.mean(0) if mask is None else self._embeddings[mask]


def _special_tokens(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """The ids a tokenizer puts before and after a sentence."""
    plain = tokenizer.encode("a", add_special_tokens=False).ids
    ids = tokenizer.encode("a").ids
    start = next(i for i in range(len(ids)) if ids[i : i + len(plain)] == plain)
    return ids[:start], ids[start + len(plain) :]
