"""Matrix products whose rows never depend on each other, not even in their last bit.

Matrix libraries add up the terms of a row in an order that depends on the shape of the product, and
in some of them (OpenBLAS on CPUs with AVX2) also on the position of the row, so the same row gives
sums that differ by a rounding error. Here both factors are rounded to integers that are so small
that no sum exceeds 2²⁴. Single precision represents all of these sums exactly, so their order does
not matter, and the score of a word is the same in any batch and on any CPU.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

_LARGEST_SUM = 2**24  # all integers up to here are exact in single precision
_LARGEST_WEIGHT = 511


@dataclass(frozen=True)
class ExactProduct:
    """x @ W with x and W rounded to about eleven and ten bits.

    weight: (inputs, outputs), integers
    input_scale: the inputs are multiplied by it and then rounded
    unit: of the results, which are integers
    """

    weight: Floats
    input_scale: np.float32
    unit: np.float32

    @classmethod
    def of(cls, weight: Floats, *, bound: float) -> "ExactProduct":
        """Prepare the products with a matrix.

        weight: (inputs, outputs)
        bound: the largest absolute value of an input
        """
        step = max(float(np.abs(weight).max()), 1e-30) / _LARGEST_WEIGHT
        integers = np.rint(weight / np.float32(step))
        largest_input = _LARGEST_SUM // max(1, int(np.abs(integers).sum(0).max()))
        input_scale = largest_input / max(bound, 1e-30)
        return cls(
            np.ascontiguousarray(integers, dtype=np.float32),
            np.float32(input_scale),
            np.float32(step / input_scale),
        )

    def integers(self, x: Floats) -> Floats:
        """Return x @ W in multiples of `unit`.   x: (rows, inputs)"""
        rounded = x * self.input_scale
        product: Floats = np.rint(rounded, out=rounded) @ self.weight
        return product
