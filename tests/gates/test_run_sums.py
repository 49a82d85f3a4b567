"""Sums of runs of rows against numpy's own."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thresher.gates.run_sums import run_sums


@given(st.lists(st.integers(1, 8), min_size=1, max_size=20), st.integers(0, 2**32 - 1))
def test_sums_of_short_runs_equal_reduceat_exactly(lengths, seed):
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(30, 5)).astype(np.float32)
    lengths = np.array(lengths)
    rows = random.integers(0, 30, lengths.sum())
    starts = np.cumsum(lengths) - lengths
    expected = np.add.reduceat(vectors[rows], starts, axis=0)
    np.testing.assert_array_equal(run_sums(vectors, rows, starts, lengths), expected)


def test_sums_of_long_runs_and_of_none():
    vectors = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    rows, none = np.arange(50), np.zeros(0, np.int64)
    total = run_sums(vectors, rows, np.array([0, 10]), np.array([50, 40]))
    np.testing.assert_allclose(total, [vectors.sum(0), vectors[10:].sum(0)], rtol=1e-5)
    assert run_sums(vectors, rows, none, none).shape == (0, 3)
