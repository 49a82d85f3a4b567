"""Sentence-BERT encoders, and other bidirectional transformers, through `transformers`."""

import copy
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

from thresher.encoders.attention import attending_twin, incoming_and_outgoing
from thresher.encoders.bert_layers import BertLayers, first_layers
from thresher.encoders.eight_bit_bert import EightBitBert
from thresher.encoders.eight_bits import Ranges, input_ranges
from thresher.encoders.packing import encoded_in_rows
from thresher.encoders.padding import batch_of_words, encoded_by_length
from thresher.encoders.protocol import TokenBatch, gated
from thresher.encoders.subwords import Subwords
from thresher.encoders.vocabulary import whole_words
from thresher.errors import InputError

MOST_TOKENS = 256  # what Sentence-BERT models were trained on; positions beyond are unreliable
_TOKENS_AT_ONCE, _SENTENCES_AT_ONCE = 1024, 64


class SentenceBert:
    """A frozen transformer over case-folded words.

    name: a folder, or the name of a model on the Hub
    layer: the layer whose vectors `encode` returns; by default two thirds of the way up. The last
    layers of a sentence encoder forget what a single word is in favour of what the sentence says.
    """

    def __init__(
        self,
        name: str | Path,
        *,
        layer: int | None = None,
        device: str | torch.device = "cpu",
        label: str | None = None,
    ) -> None:
        self._name = label or str(name)
        self._device = torch.device(device)
        self._tokenizer, self._model = _load(str(name))
        self._words_to_tokens = _untruncated(self._tokenizer)
        self._subwords = Subwords(self._words_to_tokens)
        self._model.to(self._device).eval().requires_grad_(False)
        layers = self._model.config.num_hidden_layers
        self._layer = math.ceil(layers * 2 / 3) if layer is None else layer
        if not 1 <= self._layer <= layers:
            raise InputError(f"{self._name} has layers 1 to {layers}; got layer {layer}")
        self._lower_layers = first_layers(self._model, self._layer)
        self._eight_bits: EightBitBert | None = None
        self._embeddings: Tensor = self._model.get_input_embeddings().weight
        self._closed = self._closed_embedding()
        self._start, self._end = _special_tokens(self._tokenizer)
        self._most = _most_tokens(self._model)
        self._twins: dict[int, Any] = {}  # by layers; built when attention is first asked for

    @property
    def name(self) -> str:
        """The name it was loaded by."""
        return self._name

    @property
    def width(self) -> int:
        """The width of a hidden vector."""
        return int(self._model.config.hidden_size)

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
        return whole_words(self._words_to_tokens.get_vocab(with_added_tokens=False))

    def batch(self, sentences: Sequence[Sequence[str]]) -> TokenBatch:
        """Tokens of case-folded words, in windows that share a quarter with their neighbours."""
        ids, counts = self._subwords.ids([word for words in sentences for word in words])
        return batch_of_words(
            ids,
            counts,
            sentences,
            start=self._start,
            end=self._end,
            pad=self._tokenizer.pad_token_id or 0,
            room=self._most - len(self._start) - len(self._end),
            overlap=self._most // 4,
        ).to(self._device)

    def encode(self, batch: TokenBatch) -> Tensor:
        """Vectors of the middle layer; the layers above it are not computed."""
        if self._eight_bits:
            return encoded_in_rows(self._eight_bits, batch, width=self.width)
        return encoded_by_length(self._lower_layers, batch)

    def encode_gated(self, batch: TokenBatch, gates: Tensor | None = None) -> Tensor:
        """Vectors of the last layer, word embeddings mixed with the mask's where gates close."""
        embedded = gated(self._embeddings[batch.ids], batch, gates, self._closed)
        output = self._model(inputs_embeds=embedded, attention_mask=batch.mask)
        return output.last_hidden_state  # type: ignore[no-any-return]

    def input_ranges(self, sentences: Sequence[Sequence[str]]) -> dict[str, Tensor]:
        """What the layers that `encode` reads are given for some sentences, if they are BERT's."""
        if not isinstance(self._lower_layers, BertLayers):
            return {}

        def read() -> None:
            for low in range(0, len(sentences), _SENTENCES_AT_ONCE):
                batch = self.batch(sentences[low : low + _SENTENCES_AT_ONCE])
                encoded_by_length(self._lower_layers, batch)

        with torch.inference_mode():
            return input_ranges(self._lower_layers, read)

    def in_eight_bits(self, ranges: Ranges) -> "SentenceBert":
        """The same encoder on a CPU, where it is BERT with `encode` in eight bits."""
        twin = copy.copy(self)
        if isinstance(self._lower_layers, BertLayers):
            twin._eight_bits = EightBitBert(self._lower_layers, ranges)
        return twin

    @property
    def tokenizer(self) -> Tokenizer:
        """What makes tokens of words."""
        return self._words_to_tokens

    def token_vectors(self) -> Tensor:
        """What `encode` makes of each token of the vocabulary alone: (vocabulary, width)."""
        vectors = torch.empty(len(self._embeddings), self.width)
        for low in range(0, len(vectors), _TOKENS_AT_ONCE):
            own = range(low, min(low + _TOKENS_AT_ONCE, len(vectors)))
            ids = torch.tensor([[*self._start, each, *self._end] for each in own])
            ids = ids.to(self._device)
            with torch.inference_mode():
                hidden = self._lower_layers(ids, torch.ones_like(ids))
            vectors[own.start : own.stop] = hidden[:, len(self._start)].cpu()
        return vectors

    def attention(self, batch: TokenBatch, *, layer: int | None = None) -> Tensor:
        """Incoming and outgoing attention in a layer, or the mean of those `encode` reads."""
        last = self._layer if layer is None else layer
        layers = self._model.config.num_hidden_layers
        if not 1 <= last <= layers:
            raise InputError(f"{self._name} has attention in layers 1 to {layers}; got {layer}")
        if last not in self._twins:
            self._twins[last] = attending_twin(self._model, last)

        def attended(ids: Tensor, mask: Tensor, word: Tensor) -> Tensor:
            output = self._twins[last](input_ids=ids, attention_mask=mask, output_attentions=True)
            chosen = output.attentions if layer is None else output.attentions[-1:]
            shares = [incoming_and_outgoing(weights, word) for weights in chosen]
            return torch.stack(shares).mean(0)

        return encoded_by_length(attended, batch, batch.word)

    def _closed_embedding(self) -> Tensor:
        """The mask token's embedding, or the mean of all where there is no mask token."""
        mask = self._tokenizer.mask_token_id
        return self._embeddings.mean(0) if mask is None else self._embeddings[mask]


def _load(name: str) -> tuple[Any, Any]:
    if Path(name).is_dir() and not (Path(name) / "config.json").is_file():
        raise InputError(f"cannot load the encoder {name!r}: the folder has no config.json")
    try:
        with _no_progress_bar():
            tokenizer = AutoTokenizer.from_pretrained(name, use_fast=True)
            model = AutoModel.from_pretrained(name, use_safetensors=True).float()
    except Exception as error:  # whatever the readers of damaged files raise
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(f"cannot load the encoder {name!r}: {reason}") from error
    if not tokenizer.is_fast:
        raise InputError(f"the encoder {name!r} has no fast tokenizer, which tells words apart")
    return tokenizer, model


@contextmanager
def _no_progress_bar() -> Iterator[None]:
    """Weights load in a second: a bar for that is noise."""
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def _untruncated(tokenizer: Any) -> Tokenizer:
    """The tokenizer itself, without the cutting and padding that a saved one may bring along."""
    words_to_tokens = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    words_to_tokens.no_truncation()
    words_to_tokens.no_padding()
    return words_to_tokens


def _most_tokens(model: Any) -> int:
    """How long a window may be: as there are positions, of which RoBERTa keeps two for padding."""
    places = getattr(getattr(model, "embeddings", None), "position_embeddings", None)
    if not isinstance(places, nn.Embedding):  # told apart in some other way
        return MOST_TOKENS
    unused = 0 if places.padding_idx is None else places.padding_idx + 1
    return min(MOST_TOKENS, places.num_embeddings - unused)


def _special_tokens(tokenizer: Any) -> tuple[list[int], list[int]]:
    """The ids a tokenizer puts before and after a sentence."""
    plain = tokenizer("a", add_special_tokens=False)["input_ids"]
    ids = tokenizer("a", add_special_tokens=True)["input_ids"]
    start = next(i for i in range(len(ids)) if ids[i : i + len(plain)] == plain)
    return ids[:start], ids[start + len(plain) :]
