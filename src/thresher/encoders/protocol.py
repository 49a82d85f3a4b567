"""What an encoder is: sentences in, vectors out, with a gate on every word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from thresher.encoders.device_transfer import sent


@dataclass(frozen=True)
class TokenBatch:
    """Sentences as token ids, in one window each or, where one is too long, in several.

    ids, mask: (windows, tokens)   word: (windows, tokens), the word a token belongs to, counted
    through all sentences of the batch, −1 for special tokens and padding
    sentence: (windows,), the sentence a window belongs to   sentence_of_word: (words,)
    source: the same batch on the CPU, if it was made there: its numbers can be looked at without
    waiting for a GPU
    """

    ids: Tensor
    mask: Tensor
    word: Tensor
    sentence: Tensor
    sentence_of_word: Tensor
    sentences: int
    source: "TokenBatch | None" = None

    @property
    def words(self) -> int:
        """How many words the sentences have together."""
        return len(self.sentence_of_word)

    def rows(self, index: Tensor, *, tokens: int) -> "TokenBatch":
        """Some of the windows in that order, cut to so many tokens; numbers are kept.

        index: (rows,)
        """
        return replace(
            self,
            ids=self.ids[index, :tokens],
            mask=self.mask[index, :tokens],
            word=self.word[index, :tokens],
            sentence=self.sentence[index],
            source=None,
        )

    def of_sentences(self, low: int, high: int) -> "TokenBatch":
        """The windows of some of the sentences; words and sentences keep their numbers."""
        bounds = torch.tensor([low, high], device=self.sentence.device)
        first, after = torch.searchsorted(self.sentence, bounds).tolist()
        own = slice(first, after)
        return replace(
            self,
            ids=self.ids[own],
            mask=self.mask[own],
            word=self.word[own],
            sentence=self.sentence[own],
            source=None,
        )

    def by_token(self) -> "TokenBatch":
        """The same windows, with every token inside a word as a word of its own.

        Of a sentence in several windows, tokens that two of them share count twice.
        """
        inside = self.word >= 0
        word = torch.full_like(self.word, -1)
        word[inside] = torch.arange(int(inside.sum()), device=word.device)
        sentence = self.sentence[:, None].expand_as(self.word)[inside]
        return replace(self, word=word, sentence_of_word=sentence, source=None)

    def to(self, device: torch.device) -> "TokenBatch":
        """The same batch on another device."""
        return TokenBatch(
            ids=sent(self.ids, device),
            mask=sent(self.mask, device),
            word=sent(self.word, device),
            sentence=sent(self.sentence, device),
            sentence_of_word=sent(self.sentence_of_word, device),
            sentences=self.sentences,
            source=self if self.ids.device.type == "cpu" else self.source,
        )

    def lengths(self) -> NDArray[np.int64]:
        """How many tokens of each window are no padding: (windows,)."""
        counts: NDArray[np.int64] = (self.source or self).mask.sum(1).cpu().numpy()
        return counts


class Encoder(Protocol):
    """Turns sentences into vectors. It never sees the case of a letter.

    A closed gate replaces a word's input embedding by that of the mask token, before any layer
    reads it, so nothing of the word is left in the vectors of its neighbours.
    """

    @property
    def name(self) -> str:
        """What to call this encoder by when it is loaded again."""
        ...

    @property
    def width(self) -> int:
        """The length of a vector."""
        ...

    @property
    def layer(self) -> int:
        """The layer that `encode` reads."""
        ...

    @property
    def device(self) -> torch.device:
        """Where the encoder computes."""
        ...

    @property
    def common_words(self) -> frozenset[str]:
        """Words that are one token each: common in the text its tokens were made from."""
        ...

    def batch(self, sentences: Sequence[Sequence[str]]) -> TokenBatch:
        """Sentences, each a sequence of words, as tokens on the encoder's device."""
        ...

    def encode(self, batch: TokenBatch) -> Tensor:
        """The vectors that tell words apart, from a middle layer: (windows, tokens, width)."""
        ...

    def encode_gated(self, batch: TokenBatch, gates: Tensor | None = None) -> Tensor:
        """The vectors of the last layer with word w let through by gates[w].

        gates: (words,), differentiable; all open when there are none
        returns: (windows, tokens, width)
        """
        ...


@runtime_checkable
class SubwordEncoder(Protocol):
    """An encoder that can show its tokens one by one, so that another can start from them."""

    @property
    def tokenizer(self) -> Tokenizer:
        """What makes tokens of words."""
        ...

    def token_vectors(self) -> Tensor:
        """What `encode` makes of each token of the vocabulary alone: (vocabulary, width)."""
        ...


@runtime_checkable
class WordEncoder(Protocol):
    """An encoder that can do with less memory where nobody asks for the tokens of words."""

    def encode_by_word(self, batch: TokenBatch) -> Tensor:
        """Equal to `word_vectors(encode(batch), batch)`: (words, width)."""
        ...


@runtime_checkable
class Int8Encoder(Encoder, Protocol):
    """An encoder that can read in eight bits, once it is known how large its numbers are."""

    def input_ranges(self, sentences: Sequence[Sequence[str]]) -> dict[str, Tensor]:
        """How large they are for some sentences: by layer (2, channels), the least and largest."""
        ...

    def to_int8(self, ranges: Mapping[str, Tensor]) -> Encoder:
        """The same encoder, faster and a little less exact."""
        ...


def gated(embedded: Tensor, batch: TokenBatch, gates: Tensor | None, closed: Tensor) -> Tensor:
    """Input embeddings with word w let through by g = gates[w]: g · embedded + (1 − g) · closed.

    Special tokens stay as they are, and so does everything when there are no gates.

    embedded: (windows, tokens, width)   gates: (words,)   closed: (width,)
    """
    if gates is None:
        return embedded
    gate = torch.where(batch.word >= 0, gates[batch.word.clamp(min=0)], 1.0)[..., None]
    return gate * embedded + (1 - gate) * closed


def word_vectors(hidden: Tensor, batch: TokenBatch) -> Tensor:
    """The mean of each word's token vectors: (words, width); zero for a word without tokens."""
    return _means(hidden, (batch.source or batch).word, batch.words)


def sentence_vectors(hidden: Tensor, batch: TokenBatch) -> Tensor:
    """The mean of each sentence's token vectors, special tokens included: (sentences, width)."""
    sentence = torch.where(batch.mask.bool(), batch.sentence[:, None], -1)
    return _means(hidden, sentence, batch.sentences)


def weighted_sentence_vectors(hidden: Tensor, batch: TokenBatch, weights: Tensor) -> Tensor:
    """The mean of each sentence's word tokens, token t of word w weighing weights[w].

    weights: (words,)   returns: (sentences, width)
    """
    inside = batch.word >= 0
    sentence = batch.sentence[:, None].expand_as(batch.mask)[inside]
    weight = weights[batch.word[inside]][:, None]
    sums = _sums(weight * hidden[inside], sentence, batch.sentences)
    return sums / _sums(weight, sentence, batch.sentences).clamp(min=1e-6)


def _means(vectors: Tensor, group: Tensor, groups: int) -> Tensor:
    """The mean of the vectors of each group, zero if it has none: (groups, width).

    vectors: (windows, tokens, width)   group: (windows, tokens), −1 for a token of none; it may be
    on the CPU, where its numbers are looked at without waiting for a GPU
    """
    place = (group.flatten() >= 0).nonzero()[:, 0]
    own, order = group.flatten()[place].sort(stable=True)
    counts = torch.bincount(own, minlength=groups)
    # A bag is read where it lies; to select, add and divide goes over all of it three times.
    bags, starts = (
        sent(each, vectors.device) for each in (place[order], counts.cumsum(0) - counts)
    )
    return functional.embedding_bag(bags, vectors.flatten(0, 1), starts, mode="mean")


def _sums(vectors: Tensor, group: Tensor, groups: int) -> Tensor:
    return vectors.new_zeros(groups, vectors.shape[-1]).index_add(0, group, vectors)
