"""Groups of tokens by rank."""

import math

import pytest
import torch

from thresher.lm.reports.frequency_groups import (
    group_means,
    groups_of,
    popularity_groups,
    quantiles,
)

COUNTS = torch.tensor([3, 50, 0, 7, 7, 1])
BY_RANK = [1, 3, 4, 0, 5, 2]


@pytest.mark.parametrize(
    ("groups", "names", "sizes"),
    [
        (groups_of(COUNTS, size=4), ["ranks 1-4", "ranks 5-6"], [4, 2]),
        (groups_of(COUNTS, size=10), ["ranks 1-6"], [6]),
        (quantiles(COUNTS, parts=4), ["ranks 1-2", "ranks 3-4", "ranks 5-5", "ranks 6-6"], None),
    ],
)
def test_groups_are_runs_of_ranks(groups, names, sizes):
    assert [group.name for group in groups] == names
    assert torch.cat([group.tokens for group in groups]).tolist() == BY_RANK
    assert all(len(group.tokens) == group.last - group.first + 1 for group in groups)
    assert sizes is None or [len(group.tokens) for group in groups] == sizes


def test_a_mean_is_over_tokens_that_have_a_value():
    values = torch.tensor([1.0, 2, math.nan, 4, math.nan, math.nan])
    first, second = group_means(values, groups_of(COUNTS, size=4))
    assert first == pytest.approx((2 + 4 + 1) / 3)
    assert math.isnan(second)


def test_few_tokens_go_in_tens_and_many_in_ten_parts():
    assert len(popularity_groups(torch.ones(65))) == 7
    assert len(popularity_groups(torch.ones(8192))) == 10


@pytest.mark.parametrize("wrong", [lambda: groups_of(COUNTS, size=0), lambda: quantiles(COUNTS)])
def test_groups_that_cannot_be_are_an_error(wrong):
    with pytest.raises(ValueError, match=r"at least 1 token|cannot be cut"):
        wrong()
