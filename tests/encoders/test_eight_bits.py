"""Linear layers in eight bits."""

import pytest
import torch
from torch import nn
from torch.backends import quantized

from thresher.encoders import eight_bits
from thresher.encoders.eight_bits import (
    EightBitLinear,
    eight_bits_work,
    in_eight_bits,
    input_ranges,
)

can = pytest.mark.skipif(not eight_bits_work(), reason="this processor cannot")


@pytest.fixture
def linear():
    torch.manual_seed(0)
    return nn.Linear(96, 40).requires_grad_(False)


def inputs(rows, *, outlier=1.0):
    x = torch.randn(rows, 96, generator=torch.Generator().manual_seed(1))
    x[:, 7] *= outlier
    return x


def range_of(x):
    return torch.stack([x.amin(0), x.amax(0)])


def relative_error(layer, linear, x):
    exact = linear(x)
    return float((layer(x) - exact).norm() / exact.norm())


@can
def test_eight_bits_are_right_to_about_two_digits(linear):
    x = inputs(200)
    assert relative_error(EightBitLinear(linear, range_of(x)), linear, x) < 0.015


@can
def test_one_channel_that_is_far_too_large_does_not_cost_the_others_their_digits(
    linear, monkeypatch
):
    x = inputs(200, outlier=60.0)
    linear.weight[:, 7] = 0.0  # so that all that is seen is what it does to the others
    shrunk = relative_error(EightBitLinear(linear, range_of(x)), linear, x)
    monkeypatch.setattr(eight_bits, "_ORDINARY", 1.0)  # none is too large
    plain = relative_error(EightBitLinear(linear, range_of(x)), linear, x)
    assert shrunk < 0.015 < 10 * shrunk < plain


@can
def test_a_row_does_not_depend_on_the_batch_it_is_in(linear):
    x = inputs(50, outlier=60.0)
    layer = EightBitLinear(linear, range_of(x))
    assert torch.equal(layer(x)[3:4], layer(x[3:4]))


@can
def test_what_is_beyond_the_range_is_cut_off(linear):
    x = inputs(50)
    layer = EightBitLinear(linear, range_of(x))
    largest = x.amax()
    torch.testing.assert_close(layer(torch.full((1, 96), 100.0)), layer(largest.expand(1, 96)))


@can
@pytest.mark.parametrize("shape", [(0, 96), (1, 96), (2, 3, 96)])
def test_any_number_of_inputs_will_do(linear, shape):
    layer = EightBitLinear(linear, range_of(inputs(50)))
    torch.testing.assert_close(layer(torch.zeros(shape)), linear(torch.zeros(shape)))


def test_ranges_are_the_least_and_largest_of_each_input():
    model = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2)).requires_grad_(False)
    x = inputs(60)[:, :3]
    found = input_ranges(model, lambda: [model(x[:30]), model(x[30:].view(5, 6, 3))])
    assert list(found) == ["0", "2"]
    torch.testing.assert_close(found["0"], range_of(x))
    torch.testing.assert_close(found["2"], range_of(model[1](model[0](x))))


@can
def test_layers_with_a_range_are_replaced_in_a_copy():
    model = nn.Sequential(nn.Linear(3, 5), nn.Sequential(nn.Linear(5, 2))).requires_grad_(False)
    engine = quantized.engine
    twin = in_eight_bits(model, {"1.0": torch.tensor([[-1.0] * 5, [1.0] * 5])})
    assert [type(each) for each in (twin[0], twin[1][0])] == [nn.Linear, EightBitLinear]
    assert isinstance(model[1][0], nn.Linear)
    assert twin[0].weight is model[0].weight
    assert quantized.engine == engine


def test_without_its_engine_eight_bits_do_not_work(monkeypatch):
    monkeypatch.setattr(eight_bits, "_ENGINE", "none")
    eight_bits_work.cache_clear()
    try:
        assert not eight_bits_work()
    finally:
        eight_bits_work.cache_clear()


def test_products_that_are_lost_are_noticed(monkeypatch):
    class Saturated(EightBitLinear):
        def forward(self, x):
            return super().forward(x).clamp(max=40)

    monkeypatch.setattr(eight_bits, "EightBitLinear", Saturated)
    eight_bits_work.cache_clear()
    try:
        assert not eight_bits_work()
    finally:
        eight_bits_work.cache_clear()


@can
def test_what_was_given_is_as_it_was_afterwards(linear):
    x = inputs(50, outlier=60.0)
    before = x.clone()
    EightBitLinear(linear, range_of(x))(x)
    assert torch.equal(x, before)
