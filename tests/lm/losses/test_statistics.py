import math

import pytest
import torch

from thresher.lm.losses import statistics
from thresher.lm.losses.linear_selfish import linear_selfish_cross_entropy
from thresher.lm.losses.selfish import selfish_cross_entropy
from thresher.lm.losses.statistics import linear_selfish_statistics, selfish_statistics

FIELDS = ["survivors", "entropy", "mass", "loss"]


def random_case():
    generator = torch.Generator().manual_seed(0)
    hidden = torch.randn(9, 6, generator=generator, dtype=torch.float64)
    weight = torch.randn(20, 6, generator=generator, dtype=torch.float64)
    target = torch.randint(20, (9,), generator=generator)
    target[2] = -100
    return hidden, weight, target, 4 * torch.rand(9, generator=generator)


@pytest.mark.parametrize("scale", [{}, {"temperature": 0.7, "softcap": 3.0}])
def test_statistics_equal_enumeration(scale):
    hidden, weight, target, margin = random_case()
    logits = hidden @ weight.T
    measured = selfish_statistics(logits, target, margin=margin, **scale)
    cap, temperature = scale.get("softcap"), scale.get("temperature", 1)
    z = (cap * torch.tanh(logits / cap) if cap else logits) / temperature
    rows = [i for i in range(9) if i != 2]
    for k, i in enumerate(rows):
        survivors = z[i] >= z[i, target[i]] - margin[i].double()
        p = z[i][survivors].softmax(0)
        assert measured.survivors[k] == survivors.sum()
        torch.testing.assert_close(measured.entropy[k], -(p * p.log()).sum())
        torch.testing.assert_close(measured.mass[k], z[i].softmax(0)[survivors].sum())
    losses = selfish_cross_entropy(logits, target, margin=margin, reduction="none", **scale)
    torch.testing.assert_close(measured.loss, losses[rows])
    assert measured.vocabulary == 20


@pytest.mark.parametrize("elements", [1, 50, 10**6])
def test_statistics_from_hidden_states_equal_those_from_logits(elements, monkeypatch):
    monkeypatch.setattr(statistics, "TILE_ELEMENTS", elements)
    hidden, weight, target, margin = random_case()
    bias = torch.linspace(-1, 1, 20, dtype=torch.float64)
    for some in (margin, 2.0):
        measured = linear_selfish_statistics(hidden, weight, target, margin=some, bias=bias)
        expected = selfish_statistics(hidden @ weight.T + bias, target, margin=some)
        for field in FIELDS:
            torch.testing.assert_close(getattr(measured, field), getattr(expected, field))


def test_half_precision_is_converted_to_float32_as_in_the_loss():
    hidden, weight, target, margin = random_case()
    halves = hidden.bfloat16(), weight.bfloat16()
    measured = linear_selfish_statistics(*halves, target, margin=margin)
    options = {"margin": margin, "reduction": "none"}
    losses = linear_selfish_cross_entropy(*halves, target, **options)
    torch.testing.assert_close(measured.loss, losses[target >= 0])


def test_autocast_changes_nothing():
    hidden, weight, target, margin = random_case()
    single = hidden.float(), weight.float(), target
    expected = linear_selfish_statistics(*single, margin=margin)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        measured = linear_selfish_statistics(*single, margin=margin)
    for field in FIELDS:
        assert torch.equal(getattr(measured, field), getattr(expected, field))


def test_a_margin_is_as_precise_as_the_hidden_states():
    """In float32 .7 is less than in float64, and 0 ≥ .7 − .7 would not survive."""
    hidden = torch.tensor([[0.7]], dtype=torch.float64)
    weight = torch.tensor([[1.0], [0.0]], dtype=torch.float64)
    found = linear_selfish_statistics(hidden, weight, torch.tensor([0]), margin=0.7)
    assert found.survivors.tolist() == [2]


def test_fractions_follow_from_the_counts():
    logits = torch.tensor([[0.0, 0, 0, 0], [0, -9, -9, -9], [0, 0, -9, -9]])
    measured = selfish_statistics(logits, torch.zeros(3).long(), margin=1.0)
    assert measured.survivors.tolist() == [4, 1, 2]
    assert measured.mean_fraction == pytest.approx(7 / 12)
    assert measured.median_fraction == pytest.approx(2 / 4)
    assert measured.held_by_heaviest(1 / 3) == pytest.approx(4 / 7)
    assert measured.held_by_heaviest(0) == pytest.approx(4 / 7)
    assert measured.held_by_heaviest(1) == 1
    with pytest.raises(ValueError, match=r"`fraction` must lie in \[0, 1\], got 2"):
        measured.held_by_heaviest(2)


def test_an_infinite_margin_keeps_everything():
    hidden, weight, target, _ = random_case()
    measured = linear_selfish_statistics(hidden, weight, target, margin=math.inf)
    assert measured.mean_fraction == 1
    torch.testing.assert_close(measured.mass, torch.ones_like(measured.mass))


def test_no_positions_give_empty_statistics():
    hidden, weight, target, _ = random_case()
    empty = linear_selfish_statistics(hidden[:0], weight, target[:0], margin=1.0)
    assert empty.survivors.shape == (0,)
    ignored = selfish_statistics(hidden @ weight.T, torch.full((9,), -100), margin=1.0)
    assert ignored.survivors.shape == (0,)
    assert math.isnan(ignored.mean_fraction)


def test_shapes_and_targets_are_checked():
    with pytest.raises(ValueError, match=r"`input` must be \(N, C\)"):
        selfish_statistics(torch.zeros(3, 4, 5), torch.zeros(3).long(), margin=1.0)
    with pytest.raises(IndexError, match="got 4"):
        selfish_statistics(torch.zeros(1, 4), torch.tensor([4]), margin=1.0)
