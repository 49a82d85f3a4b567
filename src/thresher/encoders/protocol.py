"""The `Encoder` protocol: sentences to hidden states, with a gate on every word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from thresher.encoders.device_transfer import to_device


@dataclass(frozen=True)
class TokenBatch:
    """Sentences as padded token ids: one window per sentence, several for a very long one.

    ids, mask: (windows, tokens)
    word: (windows, tokens), the index of each token's word, counted through all sentences of the
        batch; −1 for special tokens and padding
    sentence: (windows,), the index of each window's sentence
    sentence_of_word: (words,), the index of each word's sentence
    sentences: the number of sentences
    cpu_copy: the same batch on the CPU if it was made there; reading its values does not wait for
        a GPU
    """

    ids: Tensor
    mask: Tensor
    word: Tensor
    sentence: Tensor
    sentence_of_word: Tensor
    sentences: int
    cpu_copy: "TokenBatch | None" = None

    @property
    def words(self) -> int:
        """The number of words in all sentences."""
        return len(self.sentence_of_word)

    def select(self, windows: Tensor | slice, *, tokens: int | None = None) -> "TokenBatch":
        """Return some of the windows; words and sentences keep their indices.

        windows: their indices, (selected,), or a slice   tokens: truncate windows to this length
        """
        return replace(
            self,
            ids=self.ids[windows, :tokens],
            mask=self.mask[windows, :tokens],
            word=self.word[windows, :tokens],
            sentence=self.sentence[windows],
            cpu_copy=None,
        )

    def sentence_range(self, start: int, end: int) -> "TokenBatch":
        """Return the windows of sentences `start` to `end`; these keep their indices."""
        bounds = torch.tensor([start, end], device=self.sentence.device)
        first, last = torch.searchsorted(self.sentence, bounds).tolist()
        return self.select(slice(first, last))

    def tokens_as_words(self) -> "TokenBatch":
        """Return the same windows, with every token inside a word as a word of its own.

        Tokens that two windows of a long sentence share are counted twice.
        """
        inside = self.word >= 0
        word = torch.full_like(self.word, -1)
        word[inside] = torch.arange(int(inside.sum()), device=word.device)
        sentence = self.sentence[:, None].expand_as(self.word)[inside]
        return replace(self, word=word, sentence_of_word=sentence, cpu_copy=None)

    def to(self, device: torch.device) -> "TokenBatch":
        """Return the batch on another device."""
        return TokenBatch(
            ids=to_device(self.ids, device),
            mask=to_device(self.mask, device),
            word=to_device(self.word, device),
            sentence=to_device(self.sentence, device),
            sentence_of_word=to_device(self.sentence_of_word, device),
            sentences=self.sentences,
            cpu_copy=self if self.ids.device.type == "cpu" else self.cpu_copy,
        )

    def lengths(self) -> NDArray[np.int64]:
        """Return the number of tokens of each window, without padding: (windows,)."""
        counts: NDArray[np.int64] = (self.cpu_copy or self).mask.sum(1).cpu().numpy()
        return counts


class Encoder(Protocol):
    """Turns sentences into hidden states, always from case-folded words.

    A closed gate replaces a word's input embedding by that of the mask token before the first
    layer, so the word cannot influence the hidden states of its neighbours.
    """

    @property
    def name(self) -> str:
        """The name to load this encoder by."""
        ...

    @property
    def width(self) -> int:
        """The length of a hidden state."""
        ...

    @property
    def layer(self) -> int:
        """The layer whose hidden states `encode` returns."""
        ...

    @property
    def device(self) -> torch.device:
        """The device the encoder runs on."""
        ...

    @property
    def common_words(self) -> frozenset[str]:
        """Words that are a single token, as frequent words of the tokenizer's text are."""
        ...

    def batch(self, sentences: Sequence[Sequence[str]]) -> TokenBatch:
        """Tokenize sentences, each a sequence of words, into a batch on the encoder's device."""
        ...

    def encode(self, batch: TokenBatch) -> Tensor:
        """Return the hidden states of a middle layer, for words: (windows, tokens, width)."""
        ...

    def encode_gated(self, batch: TokenBatch, gates: Tensor | None = None) -> Tensor:
        """Return the hidden states of the last layer, with gates on the input words.

        gates: (words,), differentiable; by default all gates are open
        returns: (windows, tokens, width)
        """
        ...


@runtime_checkable
class SubwordEncoder(Protocol):
    """An encoder with access to its single tokens, from which another encoder can start."""

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of single words."""
        ...

    def token_vectors(self) -> Tensor:
        """Return `encode` of each vocabulary token by itself: (vocabulary, width)."""
        ...


@runtime_checkable
class FingerprintedEncoder(Protocol):
    """An encoder that can be recognized by its content, so that a changed one is noticed."""

    def fingerprint(self) -> str:
        """Return a digest of the weights and the tokenizer."""
        ...


@runtime_checkable
class WordEncoder(Protocol):
    """An encoder that needs less memory if only word vectors are needed."""

    def encode_by_word(self, batch: TokenBatch) -> Tensor:
        """Equal to `word_vectors(encode(batch), batch)`: (words, width)."""
        ...


@runtime_checkable
class Int8Encoder(Protocol):
    """An encoder that can run in int8 if the ranges of its linear layers' inputs are known."""

    def input_ranges(self, sentences: Sequence[Sequence[str]]) -> dict[str, Tensor]:
        """Measure the ranges on some sentences: by layer the minimum and maximum, (2, channels)."""
        ...

    def to_int8(self, ranges: Mapping[str, Tensor]) -> Encoder:
        """Return the same encoder in int8: faster and slightly less exact."""
        ...


@runtime_checkable
class LayeredEncoder(Protocol):
    """An encoder whose layers can be replaced, for example by fewer that were distilled."""

    def with_layers(self, weights: Mapping[str, Tensor]) -> Encoder:
        """Return an encoder with the same word embeddings and other layers."""
        ...


@runtime_checkable
class LowPrecisionEncoder(Protocol):
    """An encoder that may compute in a lower precision than float32."""

    @property
    def precision(self) -> str:
        """The name of the dtype of its matrix products: "int8", "float16" or "float32"."""
        ...


def encoder_fingerprint(encoder: Encoder) -> str:
    """Return the fingerprint of an encoder; of one that has none, its name."""
    if isinstance(encoder, FingerprintedEncoder):
        return encoder.fingerprint()
    return encoder.name


def gate_embeddings(
    embedded: Tensor, batch: TokenBatch, gates: Tensor | None, closed: Tensor
) -> Tensor:
    """Return g · embedded + (1 − g) · closed, where g is the gate of each token's word.

    Special tokens are not changed; without gates nothing is.

    embedded: (windows, tokens, width)   gates: (words,)   closed: (width,)
    """
    if gates is None:
        return embedded
    gate = torch.where(batch.word >= 0, gates[batch.word.clamp(min=0)], 1.0)[..., None]
    return gate * embedded + (1 - gate) * closed


def word_vectors(hidden: Tensor, batch: TokenBatch) -> Tensor:
    """Return the mean of each word's tokens: (words, width); zero for a word without tokens."""
    return _means(hidden, (batch.cpu_copy or batch).word, batch.words)


def sentence_vectors(hidden: Tensor, batch: TokenBatch) -> Tensor:
    """Return the mean of each sentence's tokens, special tokens included: (sentences, width)."""
    sentence = torch.where(batch.mask.bool(), batch.sentence[:, None], -1)
    return _means(hidden, sentence, batch.sentences)


def weighted_sentence_vectors(hidden: Tensor, batch: TokenBatch, weights: Tensor) -> Tensor:
    """Return the mean of each sentence's word tokens, with weights[w] for the tokens of word w.

    weights: (words,)   returns: (sentences, width)
    """
    inside = batch.word >= 0
    sentence = batch.sentence[:, None].expand_as(batch.mask)[inside]
    weight = weights[batch.word[inside]][:, None]
    sums = _sums(weight * hidden[inside], sentence, batch.sentences)
    return sums / _sums(weight, sentence, batch.sentences).clamp(min=1e-6)


def _means(vectors: Tensor, group: Tensor, groups: int) -> Tensor:
    """Return the mean vector of each group, zero for an empty group: (groups, width).

    vectors: (windows, tokens, width)
    group: (windows, tokens), −1 for a token of no group; on the CPU it avoids waiting for a GPU
    """
    token = (group.flatten() >= 0).nonzero()[:, 0]
    sorted_group, order = group.flatten()[token].sort(stable=True)
    counts = torch.bincount(sorted_group, minlength=groups)
    # `embedding_bag` passes over the vectors once; select, add and divide would need three passes.
    bags, starts = (
        to_device(each, vectors.device) for each in (token[order], counts.cumsum(0) - counts)
    )
    return functional.embedding_bag(bags, vectors.flatten(0, 1), starts, mode="mean")


def _sums(vectors: Tensor, group: Tensor, groups: int) -> Tensor:
    return vectors.new_zeros(groups, vectors.shape[-1]).index_add(0, group, vectors)
