"""A layer of `StaticEncoder` computed with numpy: a convolution over the words of sentences."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thresher.gates.exact_product import ExactProduct, Floats

Weights = Mapping[str, NDArray[Any]]  # with the names of the modules' parameters

_ROWS_PER_BLOCK = 256  # rows computed at a time, which fit into the cache of a CPU
_EPSILON = 1e-5  # of layer normalization, as in torch


@dataclass(frozen=True)
class MixingLayer:
    """x → LayerNorm(x + GELU(Σₖ Wₖ x of the k-th neighbour + b)).

    product: with W, transposed for one product with all neighbours: (width, neighbours · width)
    neighbours: the number of words that are mixed, the word itself included
    bias, norm_weight, norm_bias: (rows of a block, width), from `repeated_rows`
    """

    product: ExactProduct
    neighbours: int
    bias: Floats
    norm_weight: Floats
    norm_bias: Floats

    @classmethod
    def of(cls, encoder: Weights, number: int) -> "MixingLayer":
        """Return the layer with this number, from 0.

        encoder: `edge`, `mixing.*` and `norms.*` of a `StaticEncoder`
        """
        weight = float32(encoder[f"mixing.{number}.weight"])
        width, inputs = weight.shape
        by_neighbour = weight.reshape(width, -1, width).transpose(2, 1, 0).reshape(width, -1)
        return cls(
            ExactProduct.of(by_neighbour, bound=_input_bound(encoder, number)),
            inputs // width,
            repeated_rows(encoder[f"mixing.{number}.bias"]),
            repeated_rows(encoder[f"norms.{number}.weight"]),
            repeated_rows(encoder[f"norms.{number}.bias"]),
        )

    @property
    def reach(self) -> int:
        """The number of neighbours on each side."""
        return (self.neighbours - 1) // 2

    def __call__(self, x: Floats) -> Floats:
        """Return the vectors after this layer; those of edge rows are undefined.

        x: (rows, width), with edge rows around each sentence; rows − 2 · reach are whole blocks
        """
        reach, width = self.reach, x.shape[1]

        def addends(low: int, high: int) -> list[Floats]:
            products = self.product.integers(x[low - reach : high + reach])
            return [
                products[k : k + high - low, k * width : (k + 1) * width]
                for k in range(self.neighbours)
            ]

        return self._mix(x, addends)

    def products(self, vectors: Floats) -> Floats:
        """Return the products of vectors of any length with W: (rows, neighbours · width).

        As in `__call__`, in multiples of the unit of `product`. Each row is first divided by its
        largest value, so that short and long vectors are rounded by the same fraction.
        """
        largest = np.maximum(np.abs(vectors).max(1, keepdims=True), np.float32(1e-30))
        products = self.product.integers(vectors / largest)
        products *= largest
        return products

    def after_products(self, x: Floats, products: Floats, ids: NDArray[np.int64]) -> Floats:
        """Return `self(x)`, where x are some rows of a table whose `products` are known.

        products: (rows of the table, neighbours · width)   ids: (rows,), x = table[ids]
        """
        by_neighbour = products.reshape(-1, x.shape[1])
        first = ids * self.neighbours

        def addends(low: int, high: int) -> list[Floats]:
            low, high = low - self.reach, high - self.reach
            return [
                by_neighbour.take(first[low + k : high + k] + k, axis=0)
                for k in range(self.neighbours)
            ]

        return self._mix(x, addends)

    def _mix(self, x: Floats, addends: Callable[[int, int], Sequence[Floats]]) -> Floats:
        """Return the vectors after this layer.

        addends: the products of each neighbour in units, for the rows `low` to `high`
        """
        out = np.empty_like(x)
        reach = self.reach
        out[len(x) - reach :] = 0.0  # padding after the last block; the first rows are an edge
        for low in range(reach, len(x) - reach, _ROWS_PER_BLOCK):
            high = low + _ROWS_PER_BLOCK
            first, *others = addends(low, high)
            mixed = first + others[0]
            for each in others[1:]:
                mixed += each
            mixed *= self.product.unit
            mixed += self.bias
            mixed = gelu(mixed)
            mixed += x[low:high]
            out[low:high] = layer_norm(mixed, self.norm_weight, self.norm_bias)
        return out


def _input_bound(encoder: Weights, number: int) -> float:
    """Return a bound of the absolute values that the layer with this number multiplies.

    The first layer multiplies vectors that were divided by their largest value.
    """
    if number == 0:
        return 1.0
    norm = (encoder[f"norms.{number - 1}.{name}"] for name in ("weight", "bias"))
    return max(layer_norm_bound(*norm), float(np.abs(float32(encoder["edge"])).max()))


def layer_norm_bound(weight: NDArray[Any], bias: NDArray[Any]) -> float:
    """Return a bound of the values after layer normalization: |xᵢ| ≤ √(n − 1) |wᵢ| + |bᵢ|."""
    size = np.sqrt(len(weight) - 1) * np.abs(float32(weight)) + np.abs(float32(bias))
    return float(size.max())


def row_padding(rows: int) -> int:
    """Return how many rows are missing in the last block."""
    return -rows % _ROWS_PER_BLOCK


def in_row_blocks(function: Callable[[Floats], Floats], x: Floats) -> Floats:
    """Return `function(x)`, computed block by block.

    function: maps each row by itself
    """
    whole = len(x) // _ROWS_PER_BLOCK * _ROWS_PER_BLOCK
    blocks = [function(x[low : low + _ROWS_PER_BLOCK]) for low in range(0, whole, _ROWS_PER_BLOCK)]
    rest = np.zeros((_ROWS_PER_BLOCK, x.shape[1]), np.float32)
    rest[: len(x) - whole] = x[whole:]
    return np.concatenate([*blocks, function(rest)[: len(x) - whole]])


def layer_norm(x: Floats, weight: Floats, bias: Floats) -> Floats:
    """Return the normalized rows of a block; weight and bias are from `repeated_rows`."""
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
    """Return GELU(x) = ½ (x + |x| − |x| erfc(|x| / √2)), to 10⁻⁶."""
    size = np.abs(x)
    t = size * np.float32(_P / np.sqrt(2))
    t += 1
    np.divide(1, t, out=t)
    tail = t * np.float32(_A[-1])
    for coefficient in _A[-2::-1]:
        tail += np.float32(coefficient)
        tail *= t
    np.multiply(x, x, out=t)
    t *= np.float32(-0.5)
    tail *= np.exp(t, out=t)
    tail *= size
    size += x
    size -= tail
    size *= np.float32(0.5)
    return size


def repeated_rows(value: NDArray[Any]) -> Floats:
    """Return one row repeated for a block: numpy takes twice as long to broadcast it."""
    return np.tile(float32(value), (_ROWS_PER_BLOCK, 1))


def float32(value: NDArray[Any]) -> Floats:
    """Return a contiguous array in single precision."""
    return np.ascontiguousarray(value, dtype=np.float32)
