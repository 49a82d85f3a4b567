import math

import pytest
import torch

from thresher.lm.reports.frequency_groups import (
    equal_groups,
    frequency_groups,
    group_means,
    groups_of_size,
)

COUNTS = torch.tensor([3, 50, 0, 7, 7, 1])
BY_RANK = [1, 3, 4, 0, 5, 2]


@pytest.mark.parametrize(
    ("groups", "names", "sizes"),
    [
        (groups_of_size(COUNTS, 4), ["ranks 1-4", "ranks 5-6"], [4, 2]),
        (groups_of_size(COUNTS, 10), ["ranks 1-6"], [6]),
        (equal_groups(COUNTS, 4), ["ranks 1-2", "ranks 3-4", "ranks 5-5", "ranks 6-6"], None),
    ],
)
def test_groups_are_ranges_of_ranks(groups, names, sizes):
    assert [group.name for group in groups] == names
    assert torch.cat([group.tokens for group in groups]).tolist() == BY_RANK
    assert all(len(group.tokens) == group.last - group.first + 1 for group in groups)
    assert sizes is None or [len(group.tokens) for group in groups] == sizes


def test_the_mean_of_a_group_ignores_nan():
    values = torch.tensor([1.0, 2, math.nan, 4, math.nan, math.nan])
    first, second = group_means(values, groups_of_size(COUNTS, 4))
    assert first == pytest.approx((2 + 4 + 1) / 3)
    assert math.isnan(second)


def test_a_small_vocabulary_is_grouped_in_tens_and_a_large_one_in_ten_groups():
    assert len(frequency_groups(torch.ones(65))) == 7
    assert len(frequency_groups(torch.ones(8192))) == 10


@pytest.mark.parametrize(
    "wrong", [lambda: groups_of_size(COUNTS, 0), lambda: equal_groups(COUNTS, 10)]
)
def test_impossible_groups_are_an_error(wrong):
    with pytest.raises(
        ValueError, match=r"`size` must be at least 1, got 0|cannot divide 6 tokens into 10 groups"
    ):
        wrong()
