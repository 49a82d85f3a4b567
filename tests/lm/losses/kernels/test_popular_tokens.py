"""Tokens that survive in many light rows."""

import pytest
import torch

from thresher.lm.losses.kernels.light_rows import Lists, gather_sums, lists_by_token
from thresher.lm.losses.kernels.plan import Plan
from thresher.lm.losses.kernels.popular_tokens import take_popular_tokens
from thresher.lm.losses.kernels.row_groups import RowGroups
from thresher.lm.losses.kernels.token_counts import TokenRanges

ROWS, VOCABULARY = 6, 30


def sparse_gradient():
    """Return a gradient in which the first four tokens survive in most rows: (rows, vocabulary)."""
    generator = torch.Generator().manual_seed(0)
    often = torch.arange(VOCABULARY) < 4
    alive = torch.rand(ROWS, VOCABULARY, generator=generator) < torch.where(often, 0.95, 0.1)
    return torch.randn(ROWS, VOCABULARY, generator=generator) * alive


def listed(gradient):
    """Return the lists by row, and the row of each entry."""
    owners, index = gradient.nonzero(as_tuple=True)
    end = (gradient != 0).sum(1).cumsum(0)
    begin = torch.cat([end.new_zeros(1), end[:-1]])
    factor = gradient[owners, index]
    return Lists(torch.arange(ROWS), begin, end, index.int(), factor), owners.int()


def all_light(gradient, popular):
    alive = gradient != 0
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), alive.sum(1).cumsum(0)])
    places = TokenRanges.from_counts(alive.sum(0, dtype=torch.int32))
    return RowGroups(
        torch.arange(ROWS),
        full=0,
        dense=0,
        listed=int(alive.sum()),
        popular=popular,
        scale=1.0,
        offsets=offsets,
        tokens=places,
    )


@pytest.mark.parametrize("many", [4, 0])
def test_popular_tokens_and_the_remaining_lists_add_up_to_the_gradient(many):
    gradient = sparse_gradient()
    by_row, owners = listed(gradient)
    groups = all_light(gradient, popular=many)
    by_token = lists_by_token(by_row, owners, groups.tokens)
    plan = Plan(dense_multiple=1)
    popular, rest = take_popular_tokens(by_row, by_token, groups, torch.float32, plan)
    assert set(popular.tokens.tolist()) == set(range(many))
    assert torch.equal(popular.gradient, gradient[:, popular.tokens])

    vectors = torch.randn(VOCABULARY, 5)
    of_rows = torch.empty(ROWS, 5)
    gather_sums(by_row, vectors, 2.0, out=of_rows, initial=popular.input_sums(vectors))
    torch.testing.assert_close(of_rows, 2 * gradient @ vectors)

    hidden = torch.randn(ROWS, 5)
    of_tokens = torch.full((VOCABULARY, 5), torch.nan)
    gather_sums(rest, hidden, 2.0, out=of_tokens)
    of_tokens[popular.tokens] = popular.weight_gradient(hidden, 2.0)
    torch.testing.assert_close(of_tokens, 2 * gradient.T @ hidden)


def test_the_longest_lists_come_first():
    gradient = sparse_gradient()
    by_token = lists_by_token(*listed(gradient), TokenRanges.from_counts((gradient != 0).sum(0)))
    lengths = by_token.end - by_token.begin
    assert torch.equal(lengths, lengths.sort(descending=True).values)
