"""The margin as a value type, and the rules behind its notation."""

import math
import subprocess
import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from thresher.errors import InputError
from thresher.lm.losses.margin import (
    Margin,
    norm_scaled_margin,
    scheduled_margin,
    top_p_margin,
)
from thresher.lm.losses.selfish import selfish_cross_entropy
from thresher.lm.losses.statistics import selfish_statistics


@pytest.mark.parametrize(
    ("text", "step", "expected"),
    [
        ("4", 0, 4.0),
        ("2.5", 99, 2.5),
        ("inf", 5, math.inf),
        ("2:12", 0, 2.0),
        ("2:12", 50, 7.0),
        ("2:12", 100, 12.0),
        ("top-p:0.9", 1, top_p_margin(65, p=0.9)),
        ("top-p:1", 1, math.inf),
    ],
)
def test_a_parsed_margin_has_a_value_at_each_step(text, step, expected):
    margin = Margin.parse(text)
    assert margin.at(step=step, steps=100, vocabulary=65) == pytest.approx(expected)
    assert margin.is_infinite is (expected == math.inf)


def test_an_automatic_margin_has_no_value_before_it_is_chosen():
    margin = Margin.parse("auto")
    assert not margin.is_infinite
    with pytest.raises(ValueError, match="choose one with `auto_margin`"):
        margin.at(step=0, steps=1, vocabulary=2)


def test_a_norm_margin_is_a_function_of_the_vectors():
    margin = Margin.parse("norm:0.5")
    rule = margin.at(step=0, steps=1, vocabulary=5)
    hidden, weight, target = torch.randn(3, 4), torch.randn(5, 4), torch.tensor([0, 4, 2])
    expected = norm_scaled_margin(hidden, weight, target, alpha=0.5)
    torch.testing.assert_close(rule(hidden, weight, target), expected)
    assert not margin.is_infinite


@pytest.mark.parametrize("text", ["4", "4.0", "2:12", "norm:0.0625", "top-p:0.9", "inf", "auto"])
def test_a_margin_keeps_its_text(text):
    assert str(Margin.parse(text)) == text


def test_numbers_and_margins_can_be_parsed_too():
    assert Margin.parse(4) == Margin.parse(4.0) == Margin.parse("4.0") == Margin.parse("4")
    assert [str(Margin.parse(number)) for number in (4.0, 2.5, math.inf)] == ["4", "2.5", "inf"]
    margin = Margin.parse("2:12")
    assert Margin.parse(margin) is margin


@pytest.mark.parametrize(
    "text",
    [
        "",
        "two",
        "-1",
        "nan",
        "2:",
        ":3",
        "2:inf",
        "-1:2",
        "norm:x",
        "norm:-1",
        "norm:inf",
        "top-p:2",
        -1.0,
    ],
)
def test_a_text_that_is_not_a_margin_is_an_error(text):
    with pytest.raises(InputError, match=r"`margin` must be a number of at least 0 .* got"):
        Margin.parse(text)


def test_parsing_a_margin_does_not_import_torch():
    code = (
        "import sys; from thresher.lm.losses.margin import Margin; Margin.parse('norm:0.1'); "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


cases = {
    "z": st.lists(st.floats(-30, 30), min_size=1, max_size=12),
    "index": st.integers(0, 11),
    "p": st.floats(0, 0.999),
}


# The schedule


def test_a_schedule_is_a_straight_line_that_stays_at_its_end():
    margins = [scheduled_margin(step, start=2, end=12, steps=100) for step in (0, 25, 100, 900)]
    assert margins == [2, 4.5, 12, 12]
    assert scheduled_margin(5, start=4, end=1, steps=10) == 2.5


def test_a_schedule_needs_steps_and_finite_ends():
    with pytest.raises(ValueError, match="`steps` must be at least 1, got 0"):
        scheduled_margin(0, start=1, end=2, steps=0)
    for start, end in [(-1, 2), (1, math.inf), (math.nan, 1)]:
        with pytest.raises(ValueError, match="at least 0 and finite"):
            scheduled_margin(0, start=start, end=end, steps=5)


# Scaled by norms


def test_norm_scaled_margin_is_its_formula_row_by_row():
    hidden, weight = torch.randn(2, 3, 4), torch.randn(5, 4)
    target = torch.tensor([[0, 4, 2], [1, -100, 3]])
    margin = norm_scaled_margin(hidden, weight, target, alpha=0.25)
    for i in range(2):
        for j in range(3):
            token = target[i, j].item()
            length = weight[token].square().sum().sqrt() if token >= 0 else torch.tensor(0.0)
            expected = 0.25 * hidden[i, j].square().sum().sqrt() * length
            torch.testing.assert_close(margin[i, j], expected)


def test_norm_scaled_margin_keeps_angles_within_alpha_of_the_targets():
    """For vectors as long as the target's: cos ≥ cos_target − α."""
    generator = torch.Generator().manual_seed(0)
    hidden = 7 * functional.normalize(torch.randn(20, 6, generator=generator, dtype=torch.float64))
    weight = 3 * functional.normalize(torch.randn(40, 6, generator=generator, dtype=torch.float64))
    target = torch.randint(40, (20,), generator=generator)
    margin = norm_scaled_margin(hidden, weight, target, alpha=0.2)
    kept = selfish_statistics(hidden @ weight.T, target, margin=margin).survivors
    cosine = functional.cosine_similarity(hidden[:, None], weight[None], dim=-1)
    assert kept.tolist() == (cosine >= cosine.gather(1, target[:, None]) - 0.2).sum(1).tolist()


def test_norm_scaled_margin_has_no_gradient_and_is_wide_for_half_precision():
    hidden = torch.randn(3, 4, requires_grad=True)
    weight = torch.randn(5, 4, requires_grad=True)
    target = torch.tensor([0, 1, 2])
    assert not norm_scaled_margin(hidden, weight, target).requires_grad
    half = norm_scaled_margin(hidden.bfloat16(), weight.bfloat16(), target)
    assert half.dtype == torch.float32
    for alpha in (-1, math.inf):
        with pytest.raises(ValueError, match=f"`alpha` must be at least 0 and finite, got {alpha}"):
            norm_scaled_margin(hidden, weight, target, alpha=alpha)


# From top-p


@given(**cases)
def test_the_survivors_of_top_p_have_probability_at_least_p(z, index, p):
    """Mass ≥ 1 − p_target·(1 − p) ≥ p, for any logits and target."""
    logits, target = torch.tensor([z], dtype=torch.float64), torch.tensor([index % len(z)])
    margin = top_p_margin(len(z), p=p)
    mass = selfish_statistics(logits, target, margin=margin).mass.item()
    of_target = logits.softmax(1)[0, target].item()
    assert mass >= 1 - of_target * (1 - p) - 1e-12
    assert mass >= p - 1e-12


@given(**cases)
def test_the_survivors_of_top_p_contain_the_nucleus(z, index, p):
    logits, target = torch.tensor(z, dtype=torch.float64), index % len(z)
    survives = logits >= logits[target] - top_p_margin(len(z), p=p)
    ordered = logits.softmax(0).sort(descending=True, stable=True)
    reached = ordered.values.cumsum(0) >= p
    size = int(reached.long().argmax()) + 1 if bool(reached.any()) else len(z)
    assert survives[ordered.indices[:size]].all()


@given(**cases)
def test_the_loss_under_top_p_is_low_by_at_most_minus_log_p(z, index, p):
    logits, target = torch.tensor([z], dtype=torch.float64), torch.tensor([index % len(z)])
    full = functional.cross_entropy(logits, target)
    kept = selfish_cross_entropy(logits, target, margin=top_p_margin(len(z), p=p))
    assert full - kept >= -1e-12
    assert full - kept <= (-math.log(p) if p else math.inf) + 1e-12


def test_no_smaller_margin_keeps_the_bound_of_top_p():
    """A likely target and all others just below the threshold almost reach the bound."""
    vocabulary, p = 10_000, 0.5
    margin = top_p_margin(vocabulary, p=p)
    logits = torch.full((1, vocabulary), -margin + 1e-6, dtype=torch.float64)
    logits[0, 0] = 0
    target_probability = logits.softmax(1)[0, 0].item()
    too_narrow = selfish_statistics(logits, torch.tensor([0]), margin=margin - 2e-6)
    assert too_narrow.mass.item() == pytest.approx(target_probability)
    assert target_probability == pytest.approx(1 / (1 + (1 - p)), rel=1e-3)
    assert too_narrow.mass.item() == pytest.approx(1 - target_probability * (1 - p), rel=1e-3)


def test_top_p_of_zero_and_one():
    assert top_p_margin(100, p=1) == math.inf
    assert top_p_margin(100, p=0) == pytest.approx(math.log(100))
    assert top_p_margin(1, p=0) == 0
    with pytest.raises(ValueError, match=r"`p` must lie in \[0, 1\], got 1.5"):
        top_p_margin(100, p=1.5)
    with pytest.raises(ValueError, match="`vocabulary` must be at least 1"):
        top_p_margin(0, p=0.5)
