import math

import numpy as np
import pytest
import torch

from thresher.lm.tokens import counts
from thresher.lm.tokens.counts import (
    checked_frequencies,
    inverse_permutation,
    token_counts,
    tokens_by_frequency,
    unigram_distribution,
)


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64])
def test_tokens_are_counted_over_all_chunks(dtype, monkeypatch):
    monkeypatch.setattr(counts, "_CHUNK", 3)
    ids = np.array([0, 3, 3, 1, 0, 3, 3], dtype)
    assert token_counts(ids, 5).tolist() == [2, 1, 0, 4, 0]
    assert token_counts(ids[:0], 2).tolist() == [0, 0]


def test_tokens_are_ordered_from_the_most_frequent_to_the_rarest():
    assert tokens_by_frequency(torch.tensor([3, 9, 3, 0]), 4).tolist() == [1, 0, 2, 3]
    assert tokens_by_frequency(None, 5000).tolist() == list(range(5000))


def test_inverse_permutation_undoes_a_permutation():
    order = torch.tensor([2, 0, 3, 1])
    assert inverse_permutation(order)[order].tolist() == [0, 1, 2, 3]
    assert inverse_permutation(torch.empty(0, dtype=torch.int64)).shape == (0,)


def test_unseen_tokens_get_the_probability_of_the_rarest():
    torch.testing.assert_close(
        unigram_distribution(torch.tensor([4, 0, 2]), 3), torch.tensor([0.5, 0.25, 0.25]).double()
    )
    raised = torch.tensor([4, 2, 2]).double() ** 0.75
    torch.testing.assert_close(
        unigram_distribution(torch.tensor([4, 0, 2]), 3, power=0.75), raised / raised.sum()
    )
    assert unigram_distribution(torch.zeros(4), 4).tolist() == [0.25] * 4
    assert unigram_distribution(None, 2).tolist() == [0.5, 0.5]


def test_invalid_frequencies_are_an_error():
    with pytest.raises(ValueError, match=r"must have the shape \(3,\), got \(2,\)"):
        checked_frequencies(torch.ones(2), 3)
    for wrong in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="at least 0 and finite"):
            checked_frequencies(torch.tensor([1.0, wrong]), 2)
