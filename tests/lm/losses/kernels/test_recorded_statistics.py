import math

import pytest
import torch

from thresher.lm.losses.kernels import sparse
from thresher.lm.losses.kernels.plan import Plan
from thresher.lm.losses.kernels.recorded_statistics import recorded_statistics
from thresher.lm.losses.statistics import linear_selfish_statistics


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
def test_statistics_equal_those_from_all_logits(margin, scale, monkeypatch):
    monkeypatch.setattr(sparse, "PLAN", Plan(columns=16, recorded_fraction=2))
    hidden, weight, target, bias = case()
    found = recorded_statistics(hidden, weight, target, margin=margin, bias=bias, **scale)
    true = linear_selfish_statistics(hidden, weight, target, margin=margin, bias=bias, **scale)
    for name in ("survivors", "loss", "entropy", "target"):
        torch.testing.assert_close(
            getattr(found, name), getattr(true, name), check_dtype=False, rtol=1e-4, atol=1e-5
        )


def test_rows_are_light_heavy_or_full_by_their_number_of_survivors(monkeypatch):
    """With no margin a target of rank r keeps r tokens: light up to 9 of 45, full from 28 on."""
    plan = Plan(columns=64, recorded_fraction=27 / 45, light_fraction=0.2, dense_multiple=1)
    monkeypatch.setattr(sparse, "PLAN", plan)
    hidden, weight, _, _ = case()
    ranks = torch.tensor([1, 2, 9, 10, 15, 27, 28, 40, 45])
    target = (hidden @ weight.T).argsort(1, descending=True).gather(1, ranks[:, None] - 1)[:, 0]
    found = recorded_statistics(hidden, weight, target, margin=0.0)
    assert torch.equal(found.survivors.long(), ranks)
    assert (found.light, found.heavy, found.full) == (3, 3, 3)
    assert found.gathered == 1 + 2 + 9


def test_losses_are_averaged_by_the_group_of_their_target(monkeypatch):
    monkeypatch.setattr(sparse, "PLAN", Plan(columns=64))
    hidden, weight, target, _ = case()
    found = recorded_statistics(hidden, weight, target, margin=2.0)
    low, high = torch.arange(20), torch.arange(20, 45)
    means = found.loss_by_group([low, high, torch.tensor([99])])
    for mean, tokens in zip(means, (low, high), strict=False):
        assert mean == pytest.approx(
            found.loss[torch.isin(target[target >= 0], tokens)].mean().item()
        )
    assert math.isnan(means[2])


def test_autocast_multiplies_as_in_the_loss(monkeypatch):
    monkeypatch.setattr(sparse, "PLAN", Plan(columns=64))
    hidden, weight, target, _ = case()
    with torch.autocast("cpu", dtype=torch.float16):
        measured = recorded_statistics(hidden, weight, target, margin=2.0)
    expected = recorded_statistics(hidden.half(), weight.half(), target, margin=2.0)
    assert torch.equal(measured.loss, expected.loss)
