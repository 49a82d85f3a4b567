"""Weights rounded to integers, against rounding each weight to the nearest one."""

import pytest
import torch
from benchmarks.entities.round_weights import MAX_WEIGHT, Moments, round_linear, rounded_rows
from torch import nn


@pytest.fixture
def inputs():
    generator = torch.Generator().manual_seed(0)
    mixed = torch.randn(3000, 12, generator=generator) @ torch.randn(12, 40, generator=generator)
    return mixed + 0.3 * torch.randn(3000, 40, generator=generator) + 2


@pytest.fixture
def layer():
    torch.manual_seed(1)
    return nn.Linear(40, 16).requires_grad_(False)


def nearest(weight):
    scale = weight.abs().amax(1, keepdim=True) / MAX_WEIGHT
    return (weight / scale).round() * scale


def test_each_row_has_integers_up_to_63_times_a_scale(layer, inputs):
    weight = layer.weight.double()
    rounded = rounded_rows(weight, inputs.T.cov().double())
    integers = rounded / rounded.abs().amax(1, keepdim=True) * MAX_WEIGHT
    torch.testing.assert_close(integers, integers.round())
    assert (integers.abs().amax(1) == MAX_WEIGHT).all()


def test_outputs_are_nearer_than_with_the_nearest_integers(layer, inputs):
    expected = layer(inputs)
    plain = inputs @ (nearest(layer.weight) - layer.weight).T
    round_linear(layer, Moments.of([(inputs, expected)]), torch.ones(40))
    assert (layer(inputs) - expected).std() < 0.6 * (plain - plain.mean(0)).std()
    torch.testing.assert_close(layer(inputs).mean(0), expected.mean(0), atol=2e-3, rtol=0)


def test_a_layer_makes_up_for_errors_of_its_inputs(layer, inputs):
    expected = layer(inputs)
    disturbed = inputs @ (torch.eye(40) + 0.02 * torch.randn(40, 40)).T
    before = (layer(disturbed) - expected).std()
    round_linear(layer, Moments.of([(disturbed, expected)]), torch.ones(40))
    assert (layer(disturbed) - expected).std() < 0.3 * before


def test_divided_weights_are_the_integers(layer, inputs):
    divisors = torch.linspace(0.5, 4, 40)
    round_linear(layer, Moments.of([(inputs, layer(inputs))]), divisors)
    divided = layer.weight * divisors
    integers = divided / divided.abs().amax(1, keepdim=True) * MAX_WEIGHT
    assert (integers - integers.round()).abs().max() < 0.1  # saved in half precision
