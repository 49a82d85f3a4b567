"""The gates of models without a transformer, computed with numpy alone.

This is `Selector(StaticEncoder(…))` for finding. Without torch, which takes a second to import, a
text is processed before torch would be ready, and small operations have less overhead. Sentences
are laid out one after the other with `reach` edge rows between them, so that the neighbours of all
words are shifted slices of one array. What the first layer multiplies depends on the word alone, so
it is computed once for each different word of the text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thresher.encoders.subword_ids import SubwordTokenizer
from thresher.gates.batching import batches_in_order
from thresher.gates.choices import PARAMETER_RANGES, GateForm
from thresher.gates.exact_product import ExactProduct, Floats
from thresher.gates.mixing_layer import (
    MixingLayer,
    Weights,
    float32,
    gelu,
    in_row_blocks,
    layer_norm,
    layer_norm_bound,
    repeated_rows,
    row_padding,
)
from thresher.gates.run_sums import run_sums
from thresher.text.indexed_sentences import IndexedSentences

_WORDS_PER_BATCH = 8192


@dataclass(frozen=True)
class GateRange:
    """How (a, b) follow from the selector's output, and when a gate is open.

    low, high: the range of a and b   opening: the gate is open if u > opening
    """

    low: float
    high: float
    opening: float


def gate_range(form: str, options: Mapping[str, float]) -> GateRange:
    """Return the range of a form; ValueError for an unknown form or an option it does not have.

    options: `threshold` of thresholded and continuous gates, `lower` and `upper` of stretched ones
    """
    low, high = PARAMETER_RANGES[GateForm(form)]
    stretched = form == GateForm.STRETCHED
    if unknown := options.keys() - ({"lower", "upper"} if stretched else {"threshold"}):
        raise ValueError(f"{form} gates have no option {min(unknown)}")
    if stretched:
        lower, upper = options.get("lower", -0.1), options.get("upper", 1.1)
        if not (lower < 0 and upper > 1):
            raise ValueError(f"stretched gates need lower < 0 and upper > 1: {lower}, {upper}")
        return GateRange(low, high, opening=-lower / (upper - lower))
    opening = options.get("threshold", 0.5)
    if not 0 < opening < 1:
        raise ValueError(f"the threshold of a gate must be between 0 and 1, got {opening}")
    return GateRange(low, high, opening)


class StaticGates:
    """P(open) of every word.

    encoder: `vectors`, `edge`, `mixing.*` and `norms.*` of a `StaticEncoder`
    selector: `norm.*`, `inner.*` and `outer.*` of a `Selector`
    form: of the gates
    gate_options: arguments of the form, `threshold` or `lower` and `upper`
    """

    def __init__(
        self,
        subwords: SubwordTokenizer,
        encoder: Weights,
        selector: Weights,
        *,
        form: str,
        gate_options: Mapping[str, float] | None = None,
    ) -> None:
        self._subwords, self._gate = subwords, gate_range(form, gate_options or {})
        self._vectors = encoder["vectors"]
        self._edge = float32(encoder["edge"])
        self._selector = {
            name: (float32 if value.ndim == 2 else repeated_rows)(value)
            for name, value in selector.items()
        }
        bound = layer_norm_bound(selector["norm.weight"], selector["norm.bias"])
        self._inner = ExactProduct.of(float32(selector["inner.weight"]).T, bound=bound)
        layers = sum(name.startswith("norms.") for name in encoder) // 2
        self._layers = [MixingLayer.of(encoder, number) for number in range(layers)]
        self._reach = self._layers[0].reach

    @property
    def width(self) -> int:
        """The length of the vector of a word."""
        return int(self._vectors.shape[1])

    def gate_scores(self, sentences: Sequence[Sequence[str]]) -> Floats:
        """Return P(open) of every word: (words,)."""
        return self.prob_open(self.word_vectors(sentences))

    def word_vectors(self, sentences: Sequence[Sequence[str]]) -> Floats:
        """Return the encoder's vector of every word: (words, width)."""
        indexed = IndexedSentences.from_sentences(sentences)
        means, empty = self._token_means(indexed.vocabulary)
        table = _Table.of(means, self._edge, self._layers[0])
        vectors = np.empty((len(indexed.word_ids), self.width), np.float32)
        for batch in batches_in_order(indexed, words_per_batch=_WORDS_PER_BATCH):
            starts = indexed.starts[batch[0] : batch[-1] + 2]
            own = slice(starts[0], starts[-1])
            vectors[own] = self._mixed(table, indexed.word_ids[own], np.diff(starts))
        if empty.any():
            vectors[empty[indexed.word_ids]] = 0.0
        return vectors

    def _mixed(
        self, table: "_Table", word_ids: NDArray[np.int32], lengths: NDArray[np.int64]
    ) -> Floats:
        """Return the vectors of words after all layers: (words, width).

        word_ids: (words,), rows of the table   lengths: (sentences,), in words
        """
        first, *others = self._layers
        word_row, edge_row = _row_numbers(lengths, self._reach)
        rows = len(word_row) + len(edge_row)
        ids = np.full(rows + row_padding(rows - 2 * self._reach), table.edge)
        ids[word_row] = word_ids
        x = first.after_products(table.vectors[ids], table.products, ids)
        for layer in others:
            x[edge_row] = self._edge
            x = layer(x)
        return x[word_row]

    def prob_open(self, vectors: Floats) -> Floats:
        """Return P(open) of words from their vectors: (words,)."""
        gate, outer = self._gate, in_row_blocks(self._selector_output, vectors)
        a, b = np.minimum(np.logaddexp(0.0, outer.T.astype(np.float64)) + gate.low, gate.high)
        # P(u > o) = (1 − oᵃ)ᵇ
        probability: Floats = np.exp(b * np.log1p(-(gate.opening**a))).astype(np.float32)
        return probability

    def _selector_output(self, x: Floats) -> Floats:
        weights = self._selector
        x = layer_norm(x, weights["norm.weight"], weights["norm.bias"])
        hidden = self._inner.integers(x)
        hidden *= self._inner.unit
        hidden += weights["inner.bias"]
        hidden = gelu(hidden)
        outer: Floats = hidden @ weights["outer.weight"].T + weights["outer.bias"]
        return outer

    def _token_means(self, words: Sequence[str]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the mean token vector of each word, (words, width), and which have no tokens."""
        ids, counts = self._subwords.ids(words)
        x = np.zeros((len(words), self.width), np.float32)
        known = np.flatnonzero(counts)
        own = counts[known]
        sums = run_sums(self._vectors, ids, np.cumsum(own) - own, own)
        x[known] = sums / own[:, None].astype(np.float32)
        return x, counts == 0


@dataclass(frozen=True)
class _Table:
    """What the first layer reads of each different word, and of an edge in the last row.

    vectors: (rows, width)   products: (rows, neighbours · width)
    """

    vectors: Floats
    products: Floats

    @classmethod
    def of(cls, means: Floats, edge: Floats, layer: MixingLayer) -> "_Table":
        vectors = np.concatenate([means, edge[None]])
        return cls(vectors, layer.products(vectors))

    @property
    def edge(self) -> int:
        return len(self.vectors) - 1


def _row_numbers(
    lengths: NDArray[np.int64], reach: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of the words, and those of the edges between and around sentences."""
    before = reach * np.arange(1, len(lengths) + 1)
    words = np.arange(lengths.sum()) + np.repeat(before, lengths)
    is_edge = np.ones(len(words) + reach * (len(lengths) + 1), np.bool_)
    is_edge[words] = False
    return words, np.flatnonzero(is_edge)
