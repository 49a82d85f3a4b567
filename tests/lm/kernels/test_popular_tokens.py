"""Tokens that survive in many light rows."""

import pytest
import torch

from thresher.lm.kernels.light_rows import Lists, gather_sums, lists_by_token
from thresher.lm.kernels.plan import Plan
from thresher.lm.kernels.popular_tokens import take_popular_tokens

ROWS, VOCABULARY = 6, 30


def sparse_gradient():
    """The first four tokens survive in most rows, others seldom: (rows, vocabulary)."""
    generator = torch.Generator().manual_seed(0)
    often = torch.arange(VOCABULARY) < 4
    alive = torch.rand(ROWS, VOCABULARY, generator=generator) < torch.where(often, 0.95, 0.1)
    return torch.randn(ROWS, VOCABULARY, generator=generator) * alive


def listed(gradient):
    """By row, and each entry's row."""
    owners, index = gradient.nonzero(as_tuple=True)
    end = (gradient != 0).sum(1).cumsum(0)
    begin = torch.cat([end.new_zeros(1), end[:-1]])
    factor = gradient[owners, index]
    return Lists(torch.arange(ROWS), begin, end, index.int(), factor), owners.int()


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_the_block_and_what_is_left_of_both_lists_are_the_whole(share):
    gradient = sparse_gradient()
    by_row, owners = listed(gradient)
    by_token = lists_by_token(by_row, owners, VOCABULARY)
    plan = Plan(light_share=share, dense_multiple=1)
    popular, rest = take_popular_tokens(by_row, by_token, VOCABULARY, torch.float32, plan)
    often = (gradient != 0).sum(0) > share * ROWS
    assert set(popular.tokens.tolist()) == set(often.nonzero()[:, 0].tolist())
    assert torch.equal(popular.gradient, gradient[:, popular.tokens])

    vectors = torch.randn(VOCABULARY, 5)
    of_rows = torch.empty(ROWS, 5)
    gather_sums(by_row, vectors, 2.0, out=of_rows, begun=popular.input_sums(vectors))
    torch.testing.assert_close(of_rows, 2 * gradient @ vectors)

    hidden = torch.randn(ROWS, 5)
    of_tokens = torch.full((VOCABULARY, 5), torch.nan)
    gather_sums(rest, hidden, 2.0, out=of_tokens)
    of_tokens[popular.tokens] = popular.weight_gradient(hidden, 2.0)
    torch.testing.assert_close(of_tokens, 2 * gradient.T @ hidden)


def test_the_longest_lists_come_first():
    by_token = lists_by_token(*listed(sparse_gradient()), VOCABULARY)
    lengths = by_token.end - by_token.begin
    assert torch.equal(lengths, lengths.sort(descending=True).values)
