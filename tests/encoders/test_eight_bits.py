"""Linear layers in eight bits."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from thresher.encoders import eight_bits
from thresher.encoders.eight_bits import EightBitLinear, Integers, input_ranges, too_large
from thresher.encoders.processor import eight_bits_work

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


def in_eight_bits(linear, x):
    ranges = range_of(x)
    integers = Integers(ranges, too_large(ranges))
    return EightBitLinear(linear.weight, linear.bias, integers), integers(x)


def relative_error(got, exact):
    return float((got - exact).norm() / exact.norm())


def test_integers_are_rounded_from_the_least_to_the_largest():
    integers = Integers(torch.tensor([[-1.0, 0.0], [4.0, 1.6]]))
    assert (integers.scale, integers.zero) == (pytest.approx(5 / 255), 51)
    x = torch.tensor([[-1.0, 0.0], [4.0, 1.6], [-9.0, 99.0]])
    assert integers(x).tolist() == [[0, 51], [255, 51 + round(1.6 * 51)], [0, 255]]
    assert integers(x).dtype == torch.uint8


def test_integers_are_those_of_torch():
    x = inputs(500) * 3
    integers = Integers(torch.tensor([[-5.0], [7.0]]).expand(2, 96))
    expected = torch.fake_quantize_per_tensor_affine(x, integers.scale, integers.zero, 0, 255)
    got = (integers(x).float() - integers.zero) * integers.scale
    # A number half way between two integers may go to either.
    assert ((got - expected).abs() > 1e-5).float().mean() < 1e-4
    torch.testing.assert_close(got, expected, atol=integers.scale * 1.01, rtol=0)


def test_a_range_of_nothing_is_written_as_nothing():
    integers = Integers(torch.zeros(2, 3))
    assert integers(torch.zeros(1, 3)).tolist() == [[integers.zero] * 3]


@can
def test_eight_bits_are_right_to_about_two_digits(linear):
    x = inputs(200)
    layer, integers = in_eight_bits(linear, x)
    assert relative_error(layer(integers), linear(x)) < 0.015


@can
def test_products_of_integers_are_exact():
    generator = torch.Generator().manual_seed(2)
    weight = torch.randint(-127, 128, (17, 96), generator=generator).float()
    weight[:, 0] = 127  # so that each row has a scale of one
    x = torch.randint(0, 256, (33, 96), generator=generator).float()
    layer = EightBitLinear(
        weight, torch.arange(17.0), Integers(torch.tensor([[0.0], [255.0]]).expand(2, 96))
    )
    torch.testing.assert_close(layer(x.to(torch.uint8)), x @ weight.T + torch.arange(17.0))


@can
def test_one_channel_that_is_far_too_large_does_not_cost_the_others_their_digits(
    linear, monkeypatch
):
    x = inputs(200, outlier=60.0)
    linear.weight[:, 7] = 0.0  # so that all that is seen is what it does to the others
    layer, integers = in_eight_bits(linear, x)
    divided = relative_error(layer(integers), linear(x))
    monkeypatch.setattr(eight_bits, "_ORDINARY", 1.0)  # none is too large
    layer, integers = in_eight_bits(linear, x)
    plain = relative_error(layer(integers), linear(x))
    assert divided < 0.015 < 10 * divided < plain


@can
def test_the_channel_that_is_divided_counts_as_much_as_before(linear):
    x = inputs(200, outlier=60.0)
    layer, integers = in_eight_bits(linear, x)
    assert relative_error(layer(integers), linear(x)) < 0.02


@can
def test_a_product_is_added_in_place(linear):
    x, other = inputs(20), torch.randn(20, 40, generator=torch.Generator().manual_seed(3))
    layer, integers = in_eight_bits(linear, x)
    expected = other + layer(integers)
    added = layer.added_to(other, integers)
    torch.testing.assert_close(added, expected)
    assert added.data_ptr() == other.data_ptr()


@can
def test_gelu_is_written_as_integers(linear):
    x = inputs(200)
    layer, integers = in_eight_bits(linear, x)
    expected = functional.gelu(layer(integers))
    outputs = Integers(range_of(expected))
    got = (layer.gelu(integers, outputs).float() - outputs.zero) * outputs.scale
    assert (got - expected).abs().max() < 0.51 * outputs.scale


@can
def test_a_row_does_not_depend_on_the_batch_it_is_in(linear):
    layer, integers = in_eight_bits(linear, inputs(50, outlier=60.0))
    assert torch.equal(layer(integers)[3:4], layer(integers[3:4]))


@can
@pytest.mark.parametrize("shape", [(0, 96), (1, 96), (2, 3, 96)])
def test_any_number_of_inputs_will_do(linear, shape):
    ranges = range_of(inputs(50))
    integers = Integers(ranges)
    layer = EightBitLinear(linear.weight, linear.bias, integers)
    zeros = torch.zeros(shape)
    torch.testing.assert_close(layer(integers(zeros)), linear(zeros))


def test_too_large_is_told_beside_the_ordinary_channels():
    ranges = torch.ones(2, 100)
    ranges[0] = -0.5
    ranges[:, 4] = torch.tensor([-30.0, 2.0])
    factor = too_large(ranges)
    assert factor[4] == pytest.approx(30)
    assert (factor[torch.arange(100) != 4] == 1).all()
    assert (too_large(ranges.clamp(-1.9, 1.9)) == 1).all()  # too little to be worth it


def test_ranges_are_the_least_and_largest_of_each_input():
    model = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2)).requires_grad_(False)
    x = inputs(60)[:, :3]
    found = input_ranges(model, lambda: [model(x[:30]), model(x[30:].view(5, 6, 3))])
    assert list(found) == ["0", "2"]
    torch.testing.assert_close(found["0"], range_of(x))
    torch.testing.assert_close(found["2"], range_of(model[1](model[0](x))))
