"""Encoders as modules from token ids to word vectors, without control flow that depends on data.

`Encoder.encode` groups windows by their length and skips padding, which a graph cannot record. The
modules here compute the same for all windows at once, so that they can be exported.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.encoders.pretrained_files import PretrainedTransformer
from thresher.encoders.token_windows import WindowLayout


@dataclass(frozen=True)
class WordGraph:
    """The vectors of words as a module, and how words become its input.

    module: computes from the fields `ids`, `mask`, `word` and `sentence_of_word` of a
        `TokenBatch` the vectors of words, (words, width)
    layout: how sentences become windows
    tokenizer: the tokenizer of case-folded words, as JSON of the tokenizers library
    word_pairs: instead of it, a `WordPairTokenizer` as JSON
    """

    module: nn.Module
    layout: WindowLayout
    tokenizer: str | None = None
    word_pairs: str | None = None


@runtime_checkable
class ExportableEncoder(Protocol):
    """An encoder that can be exported as a graph."""

    def word_graph(self) -> WordGraph:
        """Return the vectors of words as a module."""
        ...


class HiddenStates(nn.Module):
    """The hidden states of tokens after some layers: (windows, tokens, width)."""

    def __init__(self, model: PretrainedTransformer, layers: int) -> None:
        super().__init__()
        self.model, self.layers = model, layers

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """ids, mask: (windows, tokens)"""
        embedded = functional.embedding(ids, self.model.word_embeddings).float()
        return self.model(embedded, mask, layers=self.layers)


class MeanHiddenStates(nn.Module):
    """The mean hidden state of the tokens of each word: (words, width)."""

    def __init__(self, hidden_states: nn.Module) -> None:
        super().__init__()
        self.hidden_states = hidden_states

    def forward(self, ids: Tensor, mask: Tensor, word: Tensor, sentence_of_word: Tensor) -> Tensor:
        """ids, mask, word: (windows, tokens)   sentence_of_word: (words,)"""
        return mean_per_word(self.hidden_states(ids, mask), word, sentence_of_word)[0]


class Standardized(nn.Module):
    """(x − mean) / deviation of the output of another module."""

    def __init__(self, module: nn.Module, mean: Tensor, deviation: Tensor) -> None:
        super().__init__()
        self.module = module
        self.register_buffer("mean", mean)
        self.register_buffer("deviation", deviation)

    def forward(self, *inputs: Tensor) -> Tensor:
        """Return the standardized output."""
        standardized: Tensor = (self.module(*inputs) - self.mean) / self.deviation
        return standardized


def mean_per_word(vectors: Tensor, word: Tensor, sentence_of_word: Tensor) -> tuple[Tensor, Tensor]:
    """Return the mean vector of the tokens of each word, zero if it has none, and their number.

    vectors: (windows, tokens, width)   word: (windows, tokens), −1 outside of words
    sentence_of_word: (words,), of which only the length is used
    returns: (words, width) and (words,)
    """
    words = sentence_of_word.shape[0]
    # Tokens of no word are added to one more row, which is dropped.
    row = torch.where(word >= 0, word, words).flatten()
    flat = vectors.flatten(0, 1)
    sums = flat.new_zeros(words + 1, flat.shape[1]).index_add(0, row, flat)
    count = flat.new_zeros(words + 1).index_add(0, row, torch.ones_like(row, dtype=flat.dtype))
    return (sums / count.clamp(min=1)[:, None])[:words], count[:words]
