"""Argument checks of the margin loss from hidden states and of its statistics."""

import math
from functools import partial

import pytest
import torch

from thresher.lm.losses import statistics
from thresher.lm.losses.kernels import chunked
from thresher.lm.losses.kernels.recorded_statistics import recorded_statistics
from thresher.lm.losses.linear_selfish import linear_selfish_cross_entropy
from thresher.lm.losses.statistics import linear_selfish_statistics

POSITIONS, WIDTH, VOCABULARY = 7, 5, 11
LOSSES = {
    name: partial(linear_selfish_cross_entropy, implementation=name)
    for name in ("chunked", "triton")
}
STATISTICS = {
    "linear_selfish_statistics": linear_selfish_statistics,
    "recorded_statistics": recorded_statistics,
}
PATHS = LOSSES | STATISTICS


def valid_arguments(**changed):
    """Return valid arguments, except for those that are changed."""
    right = {
        "input": torch.ones(POSITIONS, WIDTH),
        "weight": torch.ones(VOCABULARY, WIDTH),
        "target": torch.arange(POSITIONS),
        "margin": 1.0,
    }
    return right | changed


WRONG = [
    ({"input": torch.ones(1, 7, 5)}, ValueError, r"got \(1, 7, 5\) and \(11, 5\)"),
    ({"weight": torch.ones(5)}, ValueError, r"got \(7, 5\) and \(5,\)"),
    ({"weight": torch.ones(11, 4)}, ValueError, r"got \(7, 5\) and \(11, 4\)"),
    ({"weight": torch.ones(0, 5)}, ValueError, r"not be empty, got shape \(0, 5\)"),
    ({"input": torch.ones(7, 5).long()}, TypeError, r"got torch\.int64 and torch\.float32"),
    ({"weight": torch.ones(11, 5).cfloat()}, TypeError, "floating-point.*complex64"),
    ({"target": torch.arange(3)}, ValueError, r"`target` must be \(7,\).*got \(3,\)"),
    ({"target": torch.arange(8)}, ValueError, r"`target` must be \(7,\).*got \(8,\)"),
    ({"target": torch.arange(7)[:, None]}, ValueError, r"`target` must be \(7,\).*got \(7, 1\)"),
    ({"target": torch.arange(7.0)}, TypeError, r"class indices.*got torch\.float32"),
    ({"target": torch.ones(7).bool()}, TypeError, r"class indices.*got torch\.bool"),
    ({"target": torch.ones(7).byte()}, TypeError, r"class indices.*got torch\.uint8"),
    (
        {"target": torch.full((7,), 11)},
        IndexError,
        r"\[0, 11\) or be the `ignore_index` -100, got 11",
    ),
    ({"target": torch.full((7,), -1)}, IndexError, r"\[0, 11\) or .*, got -1"),
    (
        {"target": torch.full((7,), -100), "ignore_index": 3},
        IndexError,
        "`ignore_index` 3, got -100",
    ),
    ({"bias": torch.ones(1)}, ValueError, r"`bias` must be \(11,\).*got \(1,\)"),
    ({"bias": torch.ones(22)}, ValueError, r"`bias` must be \(11,\).*got \(22,\)"),
    ({"margin": -1.0}, ValueError, r"`margin` must be at least 0.*got -1.0"),
    ({"margin": math.nan}, ValueError, r"`margin` must be at least 0.*got nan"),
    ({"margin": torch.full((7,), -2.0)}, ValueError, "every `margin` must be at least 0.*got -2.0"),
    ({"margin": torch.ones(5)}, ValueError, r"target's shape \(7,\), got shape \(5,\)"),
    ({"temperature": 0.0}, ValueError, r"`temperature` must be positive and finite, got 0.0"),
    ({"softcap": 0.0}, ValueError, r"`softcap` must be positive and finite, or None, got 0.0"),
    ({"softcap": -2.0}, ValueError, r"`softcap` must be .*, got -2.0"),
]


@pytest.mark.parametrize(("changed", "error", "message"), WRONG)
@pytest.mark.parametrize("path", PATHS)
def test_errors_name_the_wrong_argument_and_the_rule(path, changed, error, message):
    with pytest.raises(error, match=message):
        PATHS[path](**valid_arguments(**changed))


@pytest.mark.parametrize("path", STATISTICS)
def test_shapes_are_checked_before_positions_are_split_into_tiles(path, monkeypatch):
    monkeypatch.setattr(statistics, "TILE_ELEMENTS", 1)
    with pytest.raises(ValueError, match=r"`target` must be \(7,\).*got \(3,\)"):
        STATISTICS[path](**valid_arguments(target=torch.arange(3)))


@pytest.mark.parametrize("margin", [torch.ones(()), torch.ones(7).double(), torch.ones(7).int()])
@pytest.mark.parametrize("target", [torch.arange(7), torch.arange(7).int()])
@pytest.mark.parametrize("path", PATHS)
def test_margins_and_targets_may_have_other_dtypes(path, margin, target):
    """All logits are equal: everything survives, and the loss is ln V."""
    found = PATHS[path](**valid_arguments(margin=margin, target=target))
    loss = found if path in LOSSES else found.loss.mean()
    assert loss.item() == pytest.approx(math.log(VOCABULARY))


@pytest.mark.parametrize("path", ["triton", "recorded_statistics"])
def test_triton_kernels_refuse_float64(path):
    arguments = valid_arguments(input=torch.ones(7, 5).double())
    with pytest.raises(TypeError, match=r"torch\.float32, got torch\.float64"):
        PATHS[path](**arguments)


def meta_arguments():
    """Return arguments on the meta device, whose values cannot be read."""
    arguments = valid_arguments(margin=torch.ones(POSITIONS))
    return {name: value.to("meta") for name, value in arguments.items()}


def test_the_loss_does_not_wait_for_another_device_to_check_values(monkeypatch):
    rows = torch.empty(POSITIONS, device="meta")
    monkeypatch.setattr(chunked, "row_losses", lambda *_, **__: rows)
    assert LOSSES["chunked"](**meta_arguments()).device.type == "meta"


@pytest.mark.parametrize("path", STATISTICS)
@pytest.mark.parametrize("margin", [1.0, torch.ones(POSITIONS, device="meta")])
def test_statistics_check_values_on_any_device(path, margin):
    with pytest.raises(RuntimeError, match="meta"):
        STATISTICS[path](**meta_arguments() | {"margin": margin})
