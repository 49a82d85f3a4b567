"""Linear layers with int8 products."""

import os
import signal
import subprocess
import sys

import pytest
import torch
from torch import nn
from torch.nn import functional

from thresher.encoders import int8_linear
from thresher.encoders.int8_linear import (
    MAX_WEIGHTS,
    Int8Linear,
    Quantizer,
    channel_divisors,
    exact_max_weight,
    input_ranges,
    int8_max_weight,
    int8_products_exact,
    int8_supported,
    split_channels,
)
from thresher.hardware_support import result_of_fork

needs_int8 = pytest.mark.skipif(not int8_supported(), reason="this CPU has no exact int8 products")
EXACT = [each for each in MAX_WEIGHTS if each <= (int8_max_weight() or 0)]
both_variants = pytest.mark.parametrize("max_weight", EXACT)


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


def to_int8(linear, x, divisors=channel_divisors, max_weight=None):
    ranges = range_of(x)
    quantize = Quantizer(ranges, divisors(ranges))
    layer = Int8Linear(linear.weight, linear.bias, quantize, max_weight=max_weight)
    return layer, quantize(x)


def relative_error(got, exact):
    return float((got - exact).norm() / exact.norm())


def test_normalized_vectors_are_quantized_like_the_result_of_layer_norm():
    x = torch.randn(300, 96, generator=torch.Generator().manual_seed(2)) * 3 + 1
    normalized = torch.nn.functional.layer_norm(x, (96,), eps=1e-5)
    ranges = torch.stack([normalized.amin(0), normalized.amax(0)]) * 0.9
    quantize = Quantizer(ranges, channel_divisors(ranges))
    difference = quantize.normalized(x, epsilon=1e-5).int() - quantize(normalized).int()
    assert difference.abs().max() <= 1  # where a value is halfway between two integers
    assert (difference != 0).float().mean() < 1e-4


def test_quantizer_maps_the_range_to_0_to_255_and_clips():
    quantize = Quantizer(torch.tensor([[-1.0, 0.0], [4.0, 1.6]]))
    assert (quantize.scale, quantize.zero_point) == (pytest.approx(5 / 255), 51)
    x = torch.tensor([[-1.0, 0.0], [4.0, 1.6], [-9.0, 99.0]])
    assert quantize(x).tolist() == [[0, 51], [255, 51 + round(1.6 * 51)], [0, 255]]
    assert quantize(x).dtype == torch.uint8


def test_quantizer_agrees_with_torch():
    x = inputs(500) * 3
    quantize = Quantizer(torch.tensor([[-5.0], [7.0]]).expand(2, 96))
    expected = torch.fake_quantize_per_tensor_affine(x, quantize.scale, quantize.zero_point, 0, 255)
    got = (quantize(x).float() - quantize.zero_point) * quantize.scale
    # A number half way between two integers may be rounded to either.
    assert ((got - expected).abs() > 1e-5).float().mean() < 1e-4
    torch.testing.assert_close(got, expected, atol=quantize.scale * 1.01, rtol=0)


def test_an_empty_range_is_quantized_to_the_zero_point():
    quantize = Quantizer(torch.zeros(2, 3))
    assert quantize(torch.zeros(1, 3)).tolist() == [[quantize.zero_point] * 3]


@both_variants
def test_int8_product_is_within_two_percent(linear, max_weight):
    x = inputs(200)
    layer, quantized = to_int8(linear, x, max_weight=max_weight)
    assert relative_error(layer(quantized), linear(x)) < 0.02


@both_variants
@pytest.mark.parametrize("inputs_are", ["any", "largest"])
def test_products_of_integers_are_exact(max_weight, inputs_are):
    generator = torch.Generator().manual_seed(2)
    weight = torch.randint(-max_weight, max_weight + 1, (17, 96), generator=generator).float()
    weight[:, 0] = max_weight  # so that each row has a scale of one
    weight[1], weight[2] = max_weight, -max_weight
    x = torch.randint(0, 256, (33, 96), generator=generator).float()
    if inputs_are == "largest":
        x[:] = 255
    quantize = Quantizer(torch.tensor([[0.0], [255.0]]).expand(2, 96))
    layer = Int8Linear(weight, torch.arange(17.0), quantize, max_weight=max_weight)
    torch.testing.assert_close(layer(x.to(torch.uint8)), x @ weight.T + torch.arange(17.0))


@needs_int8
def test_an_outlier_channel_does_not_cost_the_others_precision(linear):
    x = inputs(200, outlier=60.0)
    linear.weight[:, 7] = 0.0  # so that only its effect on the others is measured
    layer, quantized = to_int8(linear, x)
    divided = relative_error(layer(quantized), linear(x))
    layer, quantized = to_int8(linear, x, divisors=lambda ranges: None)
    plain = relative_error(layer(quantized), linear(x))
    assert divided < 0.015 < 10 * divided < plain


@needs_int8
def test_a_divided_channel_keeps_its_weight(linear):
    x = inputs(200, outlier=60.0)
    layer, quantized = to_int8(linear, x)
    assert relative_error(layer(quantized), linear(x)) < 0.04


@needs_int8
def test_a_product_is_added_in_place(linear):
    x, other = inputs(20), torch.randn(20, 40, generator=torch.Generator().manual_seed(3))
    layer, quantized = to_int8(linear, x)
    expected = other + layer(quantized)
    added = layer.add_to(other, quantized)
    torch.testing.assert_close(added, expected)
    assert added.data_ptr() == other.data_ptr()


@both_variants
def test_gelu_is_quantized(linear, max_weight):
    x = inputs(200)
    layer, quantized = to_int8(linear, x, max_weight=max_weight)
    expected = functional.gelu(layer(quantized))
    outputs = Quantizer(range_of(expected))
    got = (layer.gelu(quantized, outputs).float() - outputs.zero_point) * outputs.scale
    assert (got - expected).abs().max() < 0.51 * outputs.scale


@needs_int8
def test_a_row_does_not_depend_on_its_batch(linear):
    layer, quantized = to_int8(linear, inputs(50, outlier=60.0))
    assert torch.equal(layer(quantized)[3:4], layer(quantized[3:4]))


@needs_int8
@pytest.mark.parametrize("shape", [(0, 96), (1, 96), (2, 3, 96)])
def test_any_number_of_rows_is_allowed(linear, shape):
    ranges = range_of(inputs(50))
    quantize = Quantizer(ranges)
    layer = Int8Linear(linear.weight, linear.bias, quantize)
    zeros = torch.zeros(shape)
    torch.testing.assert_close(layer(quantize(zeros)), linear(zeros))


@needs_int8
def test_small_channels_gain_precision(linear):
    x = inputs(200)
    x[:, ::2] *= 0.05
    linear.weight[:, ::2] *= 20
    layer, quantized = to_int8(linear, x)
    divided = relative_error(layer(quantized), linear(x))
    layer, quantized = to_int8(linear, x, divisors=lambda ranges: None)
    assert 3 * divided < relative_error(layer(quantized), linear(x))


def test_large_channels_are_divided_by_their_ratio_and_small_ones_by_its_square_root():
    ranges = torch.ones(2, 100)
    ranges[0] = -0.5
    ranges[:, 4] = torch.tensor([-30.0, 2.0])
    ranges[:, 5] = torch.tensor([-0.25, 0.2])
    expected = torch.ones(100)
    expected[4], expected[5] = 30, 0.5
    torch.testing.assert_close(channel_divisors(ranges), expected)
    assert channel_divisors(torch.zeros(2, 3)).tolist() == [1, 1, 1]


def highest(*values):
    """Ranges of 1,000 channels of GELU with maximum 4, except for the first ones."""
    high = torch.full((1000,), 4.0)
    high[: len(values)] = torch.tensor(values)
    return torch.stack([torch.full((1000,), -0.17), high])


def test_columns_of_a_split_channel_sum_to_gelu():
    channel, start, limit = split_channels(highest(21.0, 0.0, 9.0))
    assert limit == pytest.approx(4)
    assert torch.equal(channel.bincount()[:4], torch.tensor([6, 1, 3, 1]))
    for own, largest in ((0, 21.0), (1, 0.0), (2, 9.0)):
        y = torch.linspace(-9, largest, 2000, dtype=torch.double)[:, None]
        starts = start[channel == own]
        error = functional.gelu(y - starts).clamp(max=limit).sum(1) - functional.gelu(y[:, 0])
        assert (error < 1e-3).all()
        assert (error > -0.18).all()
        beside = ((y - starts[1:]).abs() < 4).any(1)
        assert (error[~beside].abs() < 1e-3).all()


def test_channels_of_equal_size_are_not_split():
    for high in (4.0, 1e-3, 0.0):
        channel, start, limit = split_channels(torch.tensor([[-0.1], [high]]).expand(2, 7))
        assert channel.tolist() == list(range(7))
        assert not start.any()
        assert limit >= high


def test_a_channel_is_split_over_at_most_8_columns():
    channel, _, limit = split_channels(highest(1000.0))
    assert channel.bincount()[0] == 8
    assert limit == 125


def test_no_column_is_clipped_where_gelu_is_not_linear():
    assert split_channels(highest(8.0, 0.5) * 0.5)[2] == 3


def test_input_ranges_are_the_minimum_and_maximum_of_each_channel():
    model = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2)).requires_grad_(False)
    x = inputs(60)[:, :3]
    found = input_ranges(model, lambda: [model(x[:30]), model(x[30:].view(5, 6, 3))])
    assert list(found) == ["0", "2"]
    torch.testing.assert_close(found["0"], range_of(x))
    torch.testing.assert_close(found["2"], range_of(model[1](model[0](x))))


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch):
    monkeypatch.setattr(os, "environ", dict(os.environ))
    os.environ.pop("ONEDNN_MAX_CPU_ISA", None)
    int8_max_weight.cache_clear()
    yield
    int8_max_weight.cache_clear()


def test_a_trial_runs_after_threads_have_worked():
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        x = torch.ones(600, 600)
        assert (x @ x).sum() > 0
        assert result_of_fork(exact_max_weight) == exact_max_weight()
    finally:
        torch.set_num_threads(threads)


def test_a_crashed_trial_is_repeated_without_amx(monkeypatch):
    def crash_with_amx():
        if os.environ.get("ONEDNN_MAX_CPU_ISA") != "AVX512_CORE_VNNI":
            os.kill(os.getpid(), signal.SIGILL)
        return 126

    monkeypatch.setattr(int8_linear, "exact_max_weight", crash_with_amx)
    assert int8_max_weight() == 126


def test_the_environment_is_unchanged_if_the_first_trial_succeeds(monkeypatch):
    monkeypatch.setattr(int8_linear, "exact_max_weight", lambda: 63)
    before = dict(os.environ)
    assert int8_max_weight() == 63
    assert int8_supported()
    assert os.environ == before


def test_weights_are_smaller_where_large_ones_overflow(monkeypatch):
    monkeypatch.setattr(int8_linear, "int8_products_exact", lambda max_weight: max_weight < 100)
    assert exact_max_weight() == 63
    monkeypatch.setattr(int8_linear, "int8_products_exact", lambda max_weight: False)
    assert exact_max_weight() == 0


@pytest.mark.parametrize("operation", ["__call__", "add_to", "gelu"])
def test_overflow_of_each_operation_is_noticed(monkeypatch, operation):
    max_weight = exact_max_weight()
    if not max_weight:
        pytest.skip("this CPU has no exact int8 products")
    right = getattr(Int8Linear, operation)
    monkeypatch.setattr(Int8Linear, operation, lambda *given: right(*given).clamp(max=100))
    assert not int8_products_exact(max_weight)


def test_int8_is_not_supported_where_torch_lacks_the_operation(monkeypatch):
    def missing(*given, max_weight):
        raise AttributeError("no such operation")

    monkeypatch.setattr(Int8Linear, "__init__", missing)
    assert not int8_products_exact()


WITHOUT_FORK = """
import os, sys
import torch
del os.fork
sys.modules["resource"] = None
from thresher.encoders.int8_linear import int8_supported
print(int8_supported())
"""


def test_int8_is_not_supported_without_fork():
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_FORK],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.stdout == "False\n", ran.stderr
