import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from thresher.maths.gate_forms import (
    GATE_FORMS,
    check_rate,
    expected_fused_lasso,
    expected_sparsity,
    gate,
    reachable_rates,
)
from thresher.maths.hard_kumaraswamy import StretchedGate

EVERY_FORM = pytest.mark.parametrize("form", sorted(GATE_FORMS))
DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


# Forms by name


@EVERY_FORM
def test_a_name_gives_the_gate_of_that_form(form):
    made = gate(form, torch.ones(3), 2.0)
    assert type(made).__name__.lower() == f"{form}gate"
    assert made.batch_shape == (3,)


def test_options_are_passed_to_the_form():
    torch.testing.assert_close(
        gate("stretched", 1.0, 2.0, lower=-0.3).prob_zero(),
        StretchedGate(1.0, 2.0, lower=-0.3).prob_zero(),
    )


def test_an_unknown_form_is_refused_with_the_choices():
    with pytest.raises(ValueError, match="'soft'; choose from continuous, stretched, thresholded"):
        gate("soft", 1.0, 1.0)


# Reachable rates


def test_a_stretched_gate_with_parameters_from_one_to_ten_closes_at_most_58_percent():
    least, greatest = reachable_rates("stretched", 1, 10)
    assert 1 - least == pytest.approx(1 - (11 / 12) ** 10)
    assert 1 - least == pytest.approx(0.58, abs=0.002)
    assert greatest == pytest.approx(1 - (1 / 12) ** 10)


@EVERY_FORM
@pytest.mark.parametrize(("low", "high"), [(1.0, 10.0), (0.05, 3.0), (2.0, 2.0)])
def test_reachable_rates_are_the_extremes_over_the_whole_range(form, low, high):
    side = torch.linspace(low, high, 60, dtype=torch.float64)
    rates = gate(form, side[:, None], side).prob_open()
    assert reachable_rates(form, low, high) == pytest.approx(
        (float(rates.min()), float(rates.max()))
    )


def test_a_reachable_rate_passes_and_an_unreachable_one_names_the_interval():
    check_rate(0.5, "stretched", 1, 10)
    check_rate(0.12, "thresholded", 1, 10)
    check_rate(0.12, "stretched", 0.1, 10)
    with pytest.raises(ValueError, match=r"stretched .*\[1, 10\] .* 0.12; .*\[0.4189, 1\]"):
        check_rate(0.12, "stretched", 1, 10)
    with pytest.raises(ValueError, match="cannot be open at a rate of nan"):
        check_rate(float("nan"), "thresholded", 1, 10)
    with pytest.raises(ValueError, match=r"cannot be open at a rate of 0\.3"):
        check_rate(0.3, "thresholded", 1, 1)


def test_options_change_the_reachable_rates():
    assert reachable_rates("thresholded", 1, 2, threshold=0.1)[0] == pytest.approx(0.81)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-1, 1), (3, 2), (float("nan"), 1)])
def test_a_range_that_is_empty_or_not_positive_is_refused(low, high):
    with pytest.raises(ValueError, match=f"0 < low <= high, got low={low}, high={high}"):
        reachable_rates("continuous", low, high)


# Expected penalties


def enumerated(prob_closed, mask, statistic):
    """E[statistic(open)] over all 2ⁿ patterns of independent gates, word by word."""
    total = 0.0
    for pattern in itertools.product([0, 1], repeat=len(prob_closed)):
        weight = 1.0
        for p, is_open in zip(prob_closed, pattern, strict=True):
            weight *= 1 - p if is_open else p
        total += weight * statistic(pattern, mask)
    return total


def share_open(pattern, mask):
    return sum(z for z, m in zip(pattern, mask, strict=True) if m) / max(sum(mask), 1)


def changes(pattern, mask):
    steps = zip(itertools.pairwise(pattern), itertools.pairwise(mask), strict=True)
    return sum(abs(y - x) for (x, y), kept in steps if all(kept))


WORDS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=6)


@given(WORDS)
def test_expected_penalties_match_enumeration(words):
    prob, mask = [p for p, _ in words], [m for _, m in words]
    tensors = torch.tensor(prob, dtype=torch.float64), torch.tensor(mask)
    sparsity, lasso = expected_sparsity(*tensors), expected_fused_lasso(*tensors)
    assert float(sparsity) == pytest.approx(enumerated(prob, mask, share_open), abs=1e-12)
    assert float(lasso) == pytest.approx(enumerated(prob, mask, changes), abs=1e-12)


@DTYPES
@pytest.mark.parametrize("penalty", [expected_sparsity, expected_fused_lasso])
def test_penalties_are_per_sentence_and_ignore_padding(penalty, dtype):
    prob = torch.rand(2, 3, 5, dtype=dtype, generator=torch.Generator().manual_seed(0))
    mask = torch.tensor([True, True, True, False, False]).expand(2, 3, 5)
    result = penalty(prob, mask)
    assert result.shape == (2, 3)
    assert result.dtype == dtype
    short = penalty(prob[..., :3], mask[..., :3])
    torch.testing.assert_close(result, short)
    torch.testing.assert_close(penalty(prob, mask.long()), short)
    poisoned = prob.masked_fill(~mask, torch.nan).requires_grad_()
    torch.testing.assert_close(penalty(poisoned, mask), short)
    penalty(poisoned, mask).sum().backward()
    assert torch.isfinite(poisoned.grad).all()


@pytest.mark.parametrize("penalty", [expected_sparsity, expected_fused_lasso])
@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 4), (1,)])
def test_the_penalty_of_an_empty_sentence_is_zero(penalty, shape):
    result = penalty(torch.rand(shape), torch.zeros(shape, dtype=torch.bool))
    assert result.shape == shape[:-1]
    assert (result == 0).all()


@pytest.mark.parametrize("penalty", [expected_sparsity, expected_fused_lasso])
def test_gradients_of_penalties_match_finite_differences(penalty):
    prob = torch.tensor([[0.2, 0.9, 0.4]], dtype=torch.float64, requires_grad=True)
    mask = torch.tensor([[True, True, True]])
    assert torch.autograd.gradcheck(lambda p: penalty(p, mask), (prob,))


@pytest.mark.parametrize("penalty", [expected_sparsity, expected_fused_lasso])
@pytest.mark.parametrize(("prob", "mask"), [((2, 3), (3,)), ((3,), (4,)), ((), ())])
def test_a_mask_of_another_shape_is_refused(penalty, prob, mask):
    with pytest.raises(ValueError, match=r"must both have shape .*, got "):
        penalty(torch.zeros(prob), torch.ones(mask, dtype=torch.bool))
