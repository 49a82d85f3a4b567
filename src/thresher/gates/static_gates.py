"""The gates of models without a transformer, computed with numpy alone.

This is `Selector(StaticEncoder(…))` for finding. Without torch, which takes a second to import, a
text is processed before torch would be ready, and small operations have less overhead. Sentences
are laid out one after the other with `reach` edge rows between them, so that the neighbours of all
words are shifted slices of one array.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.encoders.subword_ids import SubwordTokenizer
from thresher.gates.choices import GateForm

Floats = NDArray[np.float32]
Weights = Mapping[str, NDArray[Any]]  # with the names of the modules' parameters

# Rows computed at a time, which fit into the cache of a CPU. All products have this many rows, so
# that they are rounded alike, and the score of a word is the same in any batch.
_ROWS_PER_BLOCK = 256
_EPSILON = 1e-5  # of layer normalization, as in torch


@dataclass(frozen=True)
class GateRange:
    """How (a, b) follow from the selector's output, and when a gate is open.

    low, high: the range of a and b   opening: the gate is open if u > opening
    """

    low: float
    high: float
    opening: float


GATE_RANGES = {
    GateForm.THRESHOLDED: GateRange(1.0, 10.0, opening=0.5),
    GateForm.CONTINUOUS: GateRange(1.0, 10.0, opening=0.5),
    GateForm.STRETCHED: GateRange(0.1, 10.0, opening=0.1 / 1.2),
}


def gate_range(form: str, options: Mapping[str, float]) -> GateRange:
    """Return the range of a form; ValueError for an unknown form or an option it does not have.

    options: `threshold` of thresholded and continuous gates, `lower` and `upper` of stretched ones
    """
    default = GATE_RANGES[GateForm(form)]
    stretched = form == GateForm.STRETCHED
    if unknown := options.keys() - ({"lower", "upper"} if stretched else {"threshold"}):
        raise ValueError(f"{form} gates have no option {min(unknown)}")
    if stretched:
        lower, upper = options.get("lower", -0.1), options.get("upper", 1.1)
        if not (lower < 0 and upper > 1):
            raise ValueError(f"stretched gates need lower < 0 and upper > 1: {lower}, {upper}")
        return replace(default, opening=-lower / (upper - lower))
    opening = options.get("threshold", default.opening)
    if not 0 < opening < 1:
        raise ValueError(f"the threshold of a gate must be between 0 and 1, got {opening}")
    return replace(default, opening=opening)


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
        self._edge = _float32(encoder["edge"])
        self._selector = {name: _float32(value) for name, value in selector.items()}
        layers = sum(name.startswith("norms.") for name in encoder) // 2
        self._layers = [_MixingLayer.of(encoder, number) for number in range(layers)]
        self._reach = self._layers[0].reach if self._layers else 0

    @property
    def width(self) -> int:
        """The length of the vector of a word."""
        return int(self._vectors.shape[1])

    def gate_scores(self, sentences: Sequence[Sequence[str]]) -> Floats:
        """Return P(open) of every word: (words,)."""
        return self.prob_open(self.word_vectors(sentences))

    def word_vectors(self, sentences: Sequence[Sequence[str]]) -> Floats:
        """Return the encoder's vector of every word: (words, width)."""
        words = [word for sentence in sentences for word in sentence]
        lengths = np.fromiter(map(len, sentences), np.int64, count=len(sentences))
        word_row, edge_row = _row_numbers(lengths, self._reach)
        vectors, empty = self._token_means(words)
        rows = len(word_row) + len(edge_row)
        x = np.zeros((rows + _padding(rows - 2 * self._reach), vectors.shape[1]), np.float32)
        x[word_row] = vectors
        for layer in self._layers:
            x[edge_row] = self._edge
            x = layer(x)
        vectors = x[word_row]
        vectors[empty] = 0.0
        return vectors

    def prob_open(self, vectors: Floats) -> Floats:
        """Return P(open) of words from their vectors: (words,)."""
        words = len(vectors)
        vectors = np.pad(vectors, ((0, _padding(words)), (0, 0)))
        parts = [
            self._prob_open(vectors[low : low + _ROWS_PER_BLOCK])
            for low in range(0, len(vectors), _ROWS_PER_BLOCK)
        ]
        return np.concatenate([np.zeros(0, np.float32), *parts])[:words]

    def _token_means(self, words: Sequence[str]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the mean token vector of each word, (words, width), and which have no tokens."""
        ids, counts = self._subwords.ids(words)
        empty = counts == 0
        width = self._vectors.shape[1]
        x = np.zeros((len(words), width), np.float32)
        single = counts == 1
        start = np.cumsum(counts) - counts
        x[single] = self._vectors[ids[start[single]]]
        several = np.flatnonzero(counts > 1)
        if len(several):
            token = np.repeat(start[several] - _starts(counts[several]), counts[several])
            token += np.arange(len(token))
            sums = np.add.reduceat(self._vectors[ids[token]], _starts(counts[several]), axis=0)
            x[several] = sums / counts[several, None].astype(np.float32)
        return x, empty

    def _prob_open(self, x: Floats) -> Floats:
        weights, gate = self._selector, self._gate
        x = _layer_norm(x, weights["norm.weight"], weights["norm.bias"])
        hidden = gelu(x @ weights["inner.weight"].T + weights["inner.bias"])
        outer = hidden @ weights["outer.weight"].T + weights["outer.bias"]
        a, b = np.minimum(np.logaddexp(0.0, outer.T.astype(np.float64)) + gate.low, gate.high)
        # P(u > o) = (1 − oᵃ)ᵇ
        probability: Floats = np.exp(b * np.log1p(-(gate.opening**a))).astype(np.float32)
        return probability


@dataclass(frozen=True)
class _MixingLayer:
    """x → LayerNorm(x + GELU(Σₖ Wₖ x of the k-th neighbour + b)).

    weight: (width, (2 · reach + 1) · width), transposed for one product with all neighbours
    """

    weight: Floats
    bias: Floats
    norm_weight: Floats
    norm_bias: Floats

    @classmethod
    def of(cls, encoder: Weights, number: int) -> "_MixingLayer":
        weight = _float32(encoder[f"mixing.{number}.weight"])
        width = len(weight)
        by_neighbour = weight.reshape(width, -1, width).transpose(2, 1, 0).reshape(width, -1)
        return cls(
            np.ascontiguousarray(by_neighbour),
            _float32(encoder[f"mixing.{number}.bias"]),
            _float32(encoder[f"norms.{number}.weight"]),
            _float32(encoder[f"norms.{number}.bias"]),
        )

    @property
    def reach(self) -> int:
        return int(self.weight.shape[1] // len(self.weight) - 1) // 2

    def __call__(self, x: Floats) -> Floats:
        """Return the vectors after this layer; those of edge rows are undefined.

        x: (rows, width), with edge rows around each sentence; rows − 2 · reach are whole blocks
        """
        out = np.empty_like(x)
        reach, width = self.reach, x.shape[1]
        out[len(x) - reach :] = 0.0  # padding after the last block; the first rows are an edge
        for low in range(reach, len(x) - reach, _ROWS_PER_BLOCK):
            high = low + _ROWS_PER_BLOCK
            products = x[low - reach : high + reach] @ self.weight
            mixed = products[: high - low, :width] + self.bias
            for k in range(1, 2 * reach + 1):
                mixed += products[k : k + high - low, k * width : (k + 1) * width]
            mixed = gelu(mixed)
            mixed += x[low:high]
            out[low:high] = _layer_norm(mixed, self.norm_weight, self.norm_bias)
        return out


def _row_numbers(
    lengths: NDArray[np.int64], reach: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of the words, and those of the edges between and around sentences."""
    before = reach * np.arange(1, len(lengths) + 1)
    words = np.arange(lengths.sum()) + np.repeat(before, lengths)
    is_edge = np.ones(len(words) + reach * (len(lengths) + 1), np.bool_)
    is_edge[words] = False
    return words, np.flatnonzero(is_edge)


def _padding(rows: int) -> int:
    """Return how many rows are missing in the last block."""
    return -rows % _ROWS_PER_BLOCK


def _starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.cumsum(counts) - counts


def _layer_norm(x: Floats, weight: Floats, bias: Floats) -> Floats:
    mean = x @ np.full(x.shape[1], 1 / x.shape[1], np.float32)  # faster than `mean`
    centred = x - mean[:, None]
    variance = np.einsum("ij,ij->i", centred, centred) / np.float32(x.shape[1])
    centred *= (1 / np.sqrt(variance + np.float32(_EPSILON)))[:, None]
    centred *= weight
    centred += bias
    return centred


# erfc(x) ≈ t (a₁ + t (a₂ + …)) exp(−x²) with t = 1 / (1 + p x) for x ≥ 0, to 1.5 · 10⁻⁷
# (Abramowitz and Stegun, 7.1.26).
_P = 0.3275911
_A = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)


def gelu(x: Floats) -> Floats:
    """Return GELU(x) = max(x, 0) − ½ |x| erfc(|x| / √2), to 10⁻⁶."""
    size = np.abs(x)
    t = size * np.float32(_P / np.sqrt(2))
    t += 1
    np.reciprocal(t, out=t)
    tail = t * np.float32(_A[-1])
    for coefficient in _A[-2::-1]:
        tail += np.float32(coefficient)
        tail *= t
    np.multiply(x, x, out=t)
    t *= np.float32(-0.5)
    tail *= np.exp(t, out=t)
    size *= np.float32(0.5)
    tail *= size
    np.subtract(np.maximum(x, 0), tail, out=tail)
    return tail


def _float32(value: NDArray[Any]) -> Floats:
    return np.ascontiguousarray(value, dtype=np.float32)
