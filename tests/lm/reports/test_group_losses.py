"""Intervals of losses equal those of a bootstrap."""

import math

import pytest
import torch

from thresher.lm.reports.evaluation import Evaluation, TokenSums
from thresher.lm.reports.frequency_groups import groups_of_size
from thresher.lm.reports.group_losses import (
    Estimate,
    group_loss,
    mean_over_seeds,
    overall_loss,
)

COUNTS = [400, 150, 60, 30]


def sums_of(targets, losses):
    """Return the sums of positions with these targets and losses."""
    sums = TokenSums.zeros(len(COUNTS))
    for name, values in (
        ("count", torch.ones(len(targets))),
        ("loss", losses),
        ("squared_loss", losses.square()),
    ):
        getattr(sums, name).index_add_(0, targets, values.double())
    return sums


def positions(seed=0):
    generator = torch.Generator().manual_seed(seed)
    targets = torch.repeat_interleave(torch.arange(4), torch.tensor(COUNTS))
    noise = torch.randn(len(targets), generator=generator, dtype=torch.float64).exp()
    return targets, noise * (1 + targets)


def test_the_interval_of_a_group_is_that_of_a_bootstrap_over_positions():
    targets, losses = positions()
    (group,) = groups_of_size(torch.tensor(COUNTS), 4)
    found = group_loss(sums_of(targets, losses), group)
    generator = torch.Generator().manual_seed(1)
    means = []
    for _ in range(4000):
        drawn = [
            part[torch.randint(len(part), (len(part),), generator=generator)].mean()
            for part in torch.split(losses, COUNTS)
        ]
        means.append(sum(drawn) / 4)
    assert found.mean == pytest.approx(
        sum(part.mean().item() for part in torch.split(losses, COUNTS)) / 4
    )
    assert found.half_width == pytest.approx(1.96 * torch.stack(means).std().item(), rel=0.05)


def test_the_interval_of_all_positions_is_that_of_a_bootstrap():
    targets, losses = positions()
    found = overall_loss(Evaluation(sums_of(targets, losses)))
    draws = torch.randint(
        len(losses), (2000, len(losses)), generator=torch.Generator().manual_seed(1)
    )
    assert found.mean == pytest.approx(losses.mean().item())
    assert found.half_width == pytest.approx(1.96 * losses[draws].mean(1).std().item(), rel=0.06)


def test_a_token_that_occurs_once_has_the_variance_of_its_group():
    targets = torch.tensor([0, 0, 0, 1])
    losses = torch.tensor([1.0, 2.0, 3.0, 7.0])
    (group,) = groups_of_size(torch.tensor([3, 1, 0, 0]), 4)
    found = group_loss(sums_of(targets, losses), group)
    assert found.mean == pytest.approx((2 + 7) / 2)
    assert found.half_width == pytest.approx(1.96 * math.sqrt(1 / 3 + 1) / 2)


def test_a_group_that_never_occurs_has_no_loss():
    (*_, last) = groups_of_size(torch.tensor([3, 1, 0, 0]), 2)
    found = group_loss(sums_of(torch.tensor([0]), torch.tensor([1.0])), last)
    assert math.isnan(found.mean)
    assert str(found) == "–"


def test_the_interval_over_seeds_is_students():
    found = mean_over_seeds([1.0, 2.0, 3.0])
    assert found.mean == pytest.approx(2)
    assert found.half_width == pytest.approx(4.303 / math.sqrt(3))
    assert math.isnan(mean_over_seeds([1.0]).half_width)


def test_a_difference_has_a_wider_interval():
    found = Estimate(2.0, 0.3) - Estimate(1.5, 0.4)
    assert found == Estimate(0.5, 0.5)
    assert str(found) == "0.500±0.500"
