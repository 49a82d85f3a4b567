"""Linear layers in eight bits."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from thresher.encoders.int8_linear import EightBitLinear, Integers, factors, input_ranges, pieces
from thresher.encoders.int8_support import int8_supported

can = pytest.mark.skipif(not int8_supported(), reason="this processor cannot")


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


def to_int8(linear, x, factors=factors):
    ranges = range_of(x)
    integers = Integers(ranges, factors(ranges))
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
    layer, integers = to_int8(linear, x)
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
def test_one_channel_that_is_far_too_large_does_not_cost_the_others_their_digits(linear):
    x = inputs(200, outlier=60.0)
    linear.weight[:, 7] = 0.0  # so that all that is seen is what it does to the others
    layer, integers = to_int8(linear, x)
    divided = relative_error(layer(integers), linear(x))
    layer, integers = to_int8(linear, x, factors=lambda ranges: None)
    plain = relative_error(layer(integers), linear(x))
    assert divided < 0.015 < 10 * divided < plain


@can
def test_the_channel_that_is_divided_counts_as_much_as_before(linear):
    x = inputs(200, outlier=60.0)
    layer, integers = to_int8(linear, x)
    assert relative_error(layer(integers), linear(x)) < 0.02


@can
def test_a_product_is_added_in_place(linear):
    x, other = inputs(20), torch.randn(20, 40, generator=torch.Generator().manual_seed(3))
    layer, integers = to_int8(linear, x)
    expected = other + layer(integers)
    added = layer.added_to(other, integers)
    torch.testing.assert_close(added, expected)
    assert added.data_ptr() == other.data_ptr()


@can
def test_gelu_is_written_as_integers(linear):
    x = inputs(200)
    layer, integers = to_int8(linear, x)
    expected = functional.gelu(layer(integers))
    outputs = Integers(range_of(expected))
    got = (layer.gelu(integers, outputs).float() - outputs.zero) * outputs.scale
    assert (got - expected).abs().max() < 0.51 * outputs.scale


@can
def test_a_row_does_not_depend_on_the_batch_it_is_in(linear):
    layer, integers = to_int8(linear, inputs(50, outlier=60.0))
    assert torch.equal(layer(integers)[3:4], layer(integers[3:4]))


@can
@pytest.mark.parametrize("shape", [(0, 96), (1, 96), (2, 3, 96)])
def test_any_number_of_inputs_will_do(linear, shape):
    ranges = range_of(inputs(50))
    integers = Integers(ranges)
    layer = EightBitLinear(linear.weight, linear.bias, integers)
    zeros = torch.zeros(shape)
    torch.testing.assert_close(layer(integers(zeros)), linear(zeros))


@can
def test_small_channels_gain_digits(linear):
    x = inputs(200)
    x[:, ::2] *= 0.05
    linear.weight[:, ::2] *= 20
    layer, integers = to_int8(linear, x)
    divided = relative_error(layer(integers), linear(x))
    layer, integers = to_int8(linear, x, factors=lambda ranges: None)
    assert 3 * divided < relative_error(layer(integers), linear(x))


def test_large_channels_are_divided_by_their_size_and_small_ones_by_its_root():
    ranges = torch.ones(2, 100)
    ranges[0] = -0.5
    ranges[:, 4] = torch.tensor([-30.0, 2.0])
    ranges[:, 5] = torch.tensor([-0.25, 0.2])
    expected = torch.ones(100)
    expected[4], expected[5] = 30, 0.5
    torch.testing.assert_close(factors(ranges), expected)
    assert factors(torch.zeros(2, 3)).tolist() == [1, 1, 1]


def highest(*values):
    """Ranges of 1,000 channels of GELU that get up to 4, but for the first."""
    high = torch.full((1000,), 4.0)
    high[: len(values)] = torch.tensor(values)
    return torch.stack([torch.full((1000,), -0.17), high])


def test_pieces_add_up_to_gelu():
    channel, start, most = pieces(highest(21.0, 0.0, 9.0))
    assert most == pytest.approx(4)
    assert torch.equal(channel.bincount()[:4], torch.tensor([6, 1, 3, 1]))
    for own, largest in ((0, 21.0), (1, 0.0), (2, 9.0)):
        y = torch.linspace(-9, largest, 2000, dtype=torch.double)[:, None]
        starts = start[channel == own]
        error = functional.gelu(y - starts).clamp(max=most).sum(1) - functional.gelu(y[:, 0])
        assert (error < 1e-3).all()
        assert (error > -0.18).all()
        beside = ((y - starts[1:]).abs() < 4).any(1)
        assert (error[~beside].abs() < 1e-3).all()


def test_channels_of_one_size_are_one_piece_each():
    for high in (4.0, 1e-3, 0.0):
        channel, start, most = pieces(torch.tensor([[-0.1], [high]]).expand(2, 7))
        assert channel.tolist() == list(range(7))
        assert not start.any()
        assert most >= high


def test_there_are_few_pieces_however_large_a_channel_is():
    channel, _, most = pieces(highest(1000.0))
    assert channel.bincount()[0] == 8
    assert most == 125


def test_no_piece_ends_where_gelu_still_bends():
    assert pieces(highest(8.0, 0.5) * 0.5)[2] == 3


def test_ranges_are_the_least_and_largest_of_each_input():
    model = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2)).requires_grad_(False)
    x = inputs(60)[:, :3]
    found = input_ranges(model, lambda: [model(x[:30]), model(x[30:].view(5, 6, 3))])
    assert list(found) == ["0", "2"]
    torch.testing.assert_close(found["0"], range_of(x))
    torch.testing.assert_close(found["2"], range_of(model[1](model[0](x))))
