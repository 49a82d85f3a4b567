"""Margins as they are written."""

import math

import pytest
import torch

from thresher.errors import InputError
from thresher.lm.losses.margin import has_margin, margin_at
from thresher.lm.losses.margin_rules import norm_scaled_margin, top_p_margin


@pytest.mark.parametrize(
    ("plan", "step", "margin"),
    [
        ("4", 0, 4.0),
        ("2.5", 99, 2.5),
        ("inf", 5, math.inf),
        ("2:12", 0, 2.0),
        ("2:12", 50, 7.0),
        ("2:12", 100, 12.0),
        ("top-p:0.9", 1, top_p_margin(65, p=0.9)),
    ],
)
def test_a_plan_gives_the_margin_of_a_step(plan, step, margin):
    found = margin_at(plan, step=step, steps=100, vocabulary=65)
    assert found == pytest.approx(margin)
    assert has_margin(plan) is (margin != math.inf)


def test_a_norm_plan_is_the_rule_of_norms():
    rule = margin_at("norm:0.5", step=0, steps=1, vocabulary=5)
    hidden, weight, target = torch.randn(3, 4), torch.randn(5, 4), torch.tensor([0, 4, 2])
    expected = norm_scaled_margin(hidden, weight, target, alpha=0.5)
    torch.testing.assert_close(rule(hidden, weight, target), expected)


@pytest.mark.parametrize(
    "plan", ["", "two", "-1", "nan", "2:", ":3", "2:inf", "-1:2", "norm:x", "norm:-1", "top-p:2"]
)
def test_a_plan_that_cannot_be_read_is_an_error(plan):
    with pytest.raises(InputError, match="is no margin; write a number"):
        has_margin(plan)
