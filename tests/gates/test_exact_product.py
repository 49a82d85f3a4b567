"""Products of integers in single precision, against integer arithmetic and float64."""

import numpy as np
import pytest

from thresher.gates.exact_product import ExactProduct


def random_arrays(rows, inputs, outputs, seed=0):
    generator = np.random.default_rng(seed)
    x = generator.uniform(-3, 3, (rows, inputs)).astype(np.float32)
    weight = generator.normal(size=(inputs, outputs)).astype(np.float32)
    return x, weight


@pytest.mark.parametrize("shape", [(1, 1, 1), (7, 64, 320), (256, 64, 64), (100, 300, 2)])
def test_products_equal_those_of_integers(shape):
    """int64 has no rounding errors, so float32 has none, either."""
    x, weight = random_arrays(*shape)
    product = ExactProduct.of(weight, bound=3.0)
    rounded = np.rint(x * product.input_scale).astype(np.int64)
    expected = rounded @ product.weight.astype(np.int64)
    assert np.array_equal(product.integers(x).astype(np.int64), expected)


def test_the_largest_sum_is_exact():
    weight = np.ones((64, 3), np.float32)
    product = ExactProduct.of(weight, bound=2.0)
    x = np.full((1, 64), 2.0, np.float32)
    largest = np.rint(x * product.input_scale).astype(np.int64).sum() * 511
    assert 2**24 - 64 * 511 < largest <= 2**24
    assert (product.integers(x) == largest).all()


def test_the_error_is_that_of_rounding():
    x, weight = random_arrays(500, 64, 320)
    product = ExactProduct.of(weight, bound=3.0)
    expected = x.astype(np.float64) @ weight.astype(np.float64)
    error = product.integers(x) * product.unit - expected
    assert 0 < error.std() < 0.005 * expected.std()
    assert abs(error.mean()) < 0.001 * expected.std()


@pytest.mark.parametrize("position", [0, 1, 6, 11, 17, 254, 255])
def test_a_row_is_the_same_at_every_position(position):
    x, weight = random_arrays(256, 64, 320)
    row = x[0].copy()
    product = ExactProduct.of(weight, bound=3.0)
    x[position] = row
    assert np.array_equal(product.integers(x)[position], product.integers(row[None])[0])


def test_a_matrix_of_zeros_gives_zeros():
    product = ExactProduct.of(np.zeros((4, 2), np.float32), bound=0.0)
    assert not product.integers(np.zeros((3, 4), np.float32)).any()
