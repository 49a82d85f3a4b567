import math

import pytest
import torch

from thresher.lm.kernels import sparse
from thresher.lm.kernels.plan import Plan
from thresher.lm.kernels.statistics import survivor_statistics
from thresher.lm.popularity import Group
from thresher.lm.statistics import linear_selfish_statistics


def case():
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(9, 6, generator=generator)
    weight = torch.randn(45, 6, generator=generator)
    bias = torch.randn(45, generator=generator)
    target = torch.randint(45, (9,), generator=generator)
    target[2] = -100
    return hidden, weight, target, bias


@pytest.mark.parametrize("margin", [0.5, 4.0, math.inf])
@pytest.mark.parametrize("scale", [{}, {"temperature": 0.7, "softcap": 3.0}])
def test_statistics_are_those_of_the_whole_logits(margin, scale, monkeypatch):
    monkeypatch.setattr(sparse, "PLAN", Plan(columns=16, recorded_share=1))
    hidden, weight, target, bias = case()
    found = survivor_statistics(hidden, weight, target, margin=margin, bias=bias, **scale)
    true = linear_selfish_statistics(hidden, weight, target, margin=margin, bias=bias, **scale)
    counted = target >= 0
    for name in ("survivors", "loss", "entropy"):
        values = getattr(found, name)
        torch.testing.assert_close(
            values[counted], getattr(true, name), check_dtype=False, rtol=1e-4, atol=1e-5
        )
        assert (values[~counted] == 0).all()
    assert found.mean_share == pytest.approx(true.mean_share)
    assert found.median_share == pytest.approx(true.median_share)
    assert found.held_by_heaviest(0.25) == pytest.approx(true.held_by_heaviest(0.25))


def test_every_row_is_treated_in_one_way(monkeypatch):
    """With no margin a target of rank r keeps r tokens: light up to 9 of 45, full from 28 on."""
    plan = Plan(recorded_share=1, full_share=0.6, full_slack=0, light_share=0.2, dense_multiple=1)
    monkeypatch.setattr(sparse, "PLAN", plan)
    hidden, weight, _, _ = case()
    ranks = torch.tensor([1, 2, 9, 10, 15, 27, 28, 40, 45])
    target = (hidden @ weight.T).argsort(1, descending=True).gather(1, ranks[:, None] - 1)[:, 0]
    found = survivor_statistics(hidden, weight, target, margin=0.0)
    assert torch.equal(found.survivors.long(), ranks)
    assert (found.light, found.heavy, found.full) == (3, 3, 3)
    assert found.gathered == 1 + 2 + 9


def test_losses_are_averaged_by_the_group_of_their_target():
    hidden, weight, target, _ = case()
    found = survivor_statistics(hidden, weight, target, margin=2.0)
    low, high = torch.arange(20), torch.arange(20, 45)
    groups = [Group(1, 20, low), Group(21, 45, high), Group(46, 46, torch.tensor([99]))]
    means = found.loss_by_group(groups)
    for mean, tokens in zip(means, (low, high), strict=False):
        assert mean == pytest.approx(found.loss[torch.isin(target, tokens)].mean().item())
    assert math.isnan(means[2])


def test_a_share_of_rows_is_a_share():
    hidden, weight, target, _ = case()
    with pytest.raises(ValueError, match=r"share must lie in \[0, 1\], got 2"):
        survivor_statistics(hidden, weight, target, margin=2.0).held_by_heaviest(2)
