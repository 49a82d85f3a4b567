import math

import pytest
import torch

from thresher.lm.tokens.counts import inverse, unigram, word_frequencies, words_by_frequency


def test_words_come_from_the_most_frequent_to_the_rarest():
    assert words_by_frequency(torch.tensor([3, 9, 3, 0]), 4).tolist() == [1, 0, 2, 3]
    assert words_by_frequency(None, 5000).tolist() == list(range(5000))


def test_inverse_undoes_a_permutation():
    order = torch.tensor([2, 0, 3, 1])
    assert inverse(order)[order].tolist() == [0, 1, 2, 3]
    assert inverse(torch.empty(0, dtype=torch.int64)).shape == (0,)


def test_unigram_gives_unseen_words_the_share_of_the_rarest():
    torch.testing.assert_close(
        unigram(torch.tensor([4, 0, 2]), 3), torch.tensor([0.5, 0.25, 0.25]).double()
    )
    raised = torch.tensor([4, 2, 2]).double() ** 0.75
    torch.testing.assert_close(
        unigram(torch.tensor([4, 0, 2]), 3, power=0.75), raised / raised.sum()
    )
    assert unigram(torch.zeros(4), 4).tolist() == [0.25] * 4
    assert unigram(None, 2).tolist() == [0.5, 0.5]


def test_frequencies_are_checked():
    with pytest.raises(ValueError, match=r"must be \(3,\), one for each word, got \(2,\)"):
        word_frequencies(torch.ones(2), 3)
    for wrong in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="at least 0 and finite"):
            word_frequencies(torch.tensor([1.0, wrong]), 2)
