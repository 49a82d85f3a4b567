"""The learning-rate schedule and the gradient step that all training loops of gates share."""

import math

import pytest
import torch

from thresher.errors import TrainingError
from thresher.gates.optimization import adamw, set_learning_rate, take_step


@pytest.fixture
def layer():
    return torch.nn.Linear(3, 1)


def test_the_learning_rate_rises_over_the_warm_up_and_falls_to_zero(layer):
    optimizer = adamw([layer], learning_rate=0.5, weight_decay=0.0)
    rates = []
    for step in range(10):
        set_learning_rate(optimizer, step=step, steps=10, warm_up=4)
        rates.append(optimizer.param_groups[0]["lr"])
    expected = [0.5 * min(1, (step + 1) / 4) * (1 - step / 10) for step in range(10)]
    assert rates == pytest.approx(expected)


def test_every_parameter_group_keeps_its_own_initial_rate(layer):
    groups = [{"params": [layer.weight], "lr": 1.0}, {"params": [layer.bias], "lr": 0.1}]
    optimizer = torch.optim.AdamW(groups)
    for step in range(3):
        set_learning_rate(optimizer, step=step, steps=4, warm_up=1)
    assert [group["lr"] for group in optimizer.param_groups] == pytest.approx([0.5, 0.05])


@pytest.mark.parametrize(("value", "name"), [(math.nan, "NaN"), (math.inf, "infinite")])
def test_a_loss_that_is_not_finite_is_an_error_and_changes_nothing(layer, value, name):
    optimizer = adamw([layer], learning_rate=0.5, weight_decay=0.1)
    before = layer.weight.clone()
    with pytest.raises(TrainingError, match=f"the loss became {name} in epoch 3; try a lower"):
        take_step(optimizer, layer.weight.sum() * value, when="in epoch 3")
    assert torch.equal(layer.weight, before)


def test_gradients_are_clipped_to_the_maximum_norm(layer):
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
    before = torch.cat([each.detach().flatten().clone() for each in layer.parameters()])
    loss = 1000 * (layer.weight.sum() + layer.bias.sum())
    take_step(optimizer, loss, when="at step 1", max_gradient_norm=2.0)
    after = torch.cat([each.detach().flatten() for each in layer.parameters()])
    assert float((after - before).norm()) == pytest.approx(2.0, rel=1e-4)
