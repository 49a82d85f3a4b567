import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.maths.fourier_filters import (
    band_pass,
    filter_frequencies,
    frequencies,
    high_pass,
    low_pass,
)

WIDTHS = pytest.mark.parametrize("width", [1, 2, 3, 8, 9, 384])

fractions = st.floats(0, 1)
widths = st.integers(1, 40)


def vectors(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def by_definition(h, keep):
    """The sum of the sinusoids of h whose frequency is kept, one integer at a time."""
    h = h.numpy()
    width = h.shape[-1]
    steps = np.arange(width)
    kept = np.zeros_like(h)
    for k in range(width):
        if keep(min(k, width - k) / (width / 2)):
            wave = np.exp(2j * np.pi * k * steps / width)
            kept = kept + ((h @ wave.conj())[..., None] * wave / width).real
    return torch.from_numpy(kept)


FILTERS = {
    "low": (lambda h: low_pass(h, cutoff=0.4), lambda f: f <= 0.4),
    "high": (lambda h: high_pass(h, cutoff=0.4), lambda f: f > 0.4),
    "band": (lambda h: band_pass(h, low=0.2, high=0.7), lambda f: 0.2 < f <= 0.7),
}
EVERY_FILTER = pytest.mark.parametrize("name", FILTERS)


@EVERY_FILTER
@WIDTHS
def test_filters_keep_the_sinusoids_of_their_frequencies(name, width):
    apply, keep = FILTERS[name]
    h = vectors(2, 3, width)
    torch.testing.assert_close(apply(h), by_definition(h, keep))


@settings(deadline=None)
@given(width=widths, cutoff=fractions)
def test_low_and_high_pass_add_up_to_the_vector(width, cutoff):
    h = vectors(3, width)
    low, high = low_pass(h, cutoff=cutoff), high_pass(h, cutoff=cutoff)
    torch.testing.assert_close(low + high, h)
    torch.testing.assert_close((low * high).sum(-1), torch.zeros(3, dtype=h.dtype))


@settings(deadline=None)
@given(width=widths, cutoffs=st.tuples(fractions, fractions))
def test_low_band_and_high_pass_add_up_to_the_vector(width, cutoffs):
    first, second = sorted(cutoffs)
    h = vectors(3, width)
    parts = [
        low_pass(h, cutoff=first),
        band_pass(h, low=first, high=second),
        high_pass(h, cutoff=second),
    ]
    torch.testing.assert_close(sum(parts), h)


@EVERY_FILTER
@WIDTHS
def test_filters_are_idempotent_and_never_lengthen(name, width):
    apply, _ = FILTERS[name]
    h = vectors(4, width)
    torch.testing.assert_close(apply(apply(h)), apply(h))
    assert (apply(h).norm(dim=-1) <= h.norm(dim=-1) + 1e-12).all()


@WIDTHS
def test_cutoff_0_keeps_the_mean_and_1_keeps_everything(width):
    h = vectors(4, width)
    torch.testing.assert_close(low_pass(h, cutoff=0), h.mean(-1, keepdim=True).expand_as(h))
    torch.testing.assert_close(low_pass(h, cutoff=1), h)
    torch.testing.assert_close(high_pass(h, cutoff=1), torch.zeros_like(h))
    torch.testing.assert_close(band_pass(h, low=0.5, high=0.5), torch.zeros_like(h))


def test_an_alternating_sign_has_the_nyquist_frequency():
    h = torch.tensor([1.0, -1.0] * 4)
    torch.testing.assert_close(high_pass(h, cutoff=0.99), h)
    assert frequencies(8).tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert frequencies(5).tolist() == [0, 0.4, 0.8]
    assert frequencies(1).tolist() == [0]


def test_a_decimal_cutoff_equals_its_frequency():
    for k in range(11):
        cutoff = float(f"{k / 10:.1f}")
        kept = frequencies(20) <= cutoff
        assert int(kept.sum()) == k + 1


@EVERY_FILTER
@pytest.mark.parametrize("width", [1, 6, 7])
def test_gradients_agree_with_finite_differences(name, width):
    apply, _ = FILTERS[name]
    assert torch.autograd.gradcheck(apply, vectors(2, width).requires_grad_())


def test_any_real_mask_can_weight_the_frequencies():
    h = vectors(2, 6)
    mask = torch.tensor([1.0, 0.5, 0.0, 2.0], dtype=torch.float64, requires_grad=True)
    spectrum = np.fft.rfft(h.numpy()) * mask.detach().numpy()
    expected = torch.from_numpy(np.fft.irfft(spectrum, n=6))
    torch.testing.assert_close(filter_frequencies(h, mask), expected)
    assert torch.autograd.gradcheck(lambda mask: filter_frequencies(h, mask), mask)


@EVERY_FILTER
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("width", [1, 7, 384])  # half precision has no FFT for most widths
def test_low_precision_is_accurate_up_to_rounding(name, dtype, width):
    apply, _ = FILTERS[name]
    h = vectors(3, width).to(dtype)
    filtered = apply(h)
    assert filtered.dtype == dtype
    error = (filtered.double() - apply(h.double())).abs().max()
    assert error <= 8 * torch.finfo(dtype).eps


@EVERY_FILTER
def test_an_empty_batch_stays_empty(name):
    apply, _ = FILTERS[name]
    assert apply(torch.empty(0, 8)).shape == (0, 8)
    assert apply(torch.empty(2, 0, 8)).shape == (2, 0, 8)


# What is refused


@pytest.mark.parametrize("cutoff", [-0.1, 1.1, math.nan])
def test_a_cutoff_out_of_range_is_refused(cutoff):
    for apply in (low_pass, high_pass):
        with pytest.raises(ValueError, match=r"`cutoff` is a fraction .* between 0 and 1, got"):
            apply(vectors(4), cutoff=cutoff)
    with pytest.raises(ValueError, match="`high` is a fraction"):
        band_pass(vectors(4), low=0, high=cutoff)


def test_a_band_with_low_above_high_is_refused():
    with pytest.raises(ValueError, match=r"`low` must not exceed `high`, got low=0.6 and high=0.5"):
        band_pass(vectors(4), low=0.6, high=0.5)


@pytest.mark.parametrize(
    ("h", "error", "message"),
    [
        (torch.arange(4), TypeError, r"floating-point tensor, got torch.int64"),
        (torch.ones(4, dtype=torch.complex64), TypeError, "floating-point"),
        (torch.tensor(1.0), ValueError, "at least one dimension"),
        (torch.empty(3, 0), ValueError, "`width` must be at least 1, got 0"),
    ],
)
def test_tensors_without_a_spectrum_are_refused(h, error, message):
    with pytest.raises(error, match=message):
        low_pass(h, cutoff=0.5)


def test_a_mask_of_another_width_is_refused():
    with pytest.raises(ValueError, match=r"must have shape \(4,\), got \(6,\)"):
        filter_frequencies(vectors(6), torch.ones(6))
