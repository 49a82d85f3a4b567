"""Fourier filters of vectors: h̃ = F⁻¹(M ⊙ F(h)) along the last dimension.

Frequencies are fractions of the Nyquist frequency, from 0 (the mean of the vector) to 1 (values
with alternating signs). Each filter is an orthogonal projection: linear, differentiable,
idempotent, and its output is never longer than its input.
"""

import torch
from torch import Tensor


def low_pass(h: Tensor, *, cutoff: float) -> Tensor:
    """Keep the frequencies f ≤ cutoff: 0 keeps only the mean, 1 keeps everything.

    h: (…, width)   returns: the same shape and dtype
    """
    _check_cutoffs(cutoff=cutoff)
    return filter_frequencies(h, _frequencies_of(h) <= cutoff)


def high_pass(h: Tensor, *, cutoff: float) -> Tensor:
    """Keep the frequencies f > cutoff, so that low_pass(h) + high_pass(h) = h.

    h: (…, width)   returns: the same shape and dtype
    """
    _check_cutoffs(cutoff=cutoff)
    return filter_frequencies(h, _frequencies_of(h) > cutoff)


def band_pass(h: Tensor, *, low: float, high: float) -> Tensor:
    """Keep the frequencies low < f ≤ high.

    h: (…, width)   returns: the same shape and dtype
    """
    _check_cutoffs(low=low, high=high)
    if low > high:
        raise ValueError(f"`low` must not exceed `high`, got low={low} and high={high}")
    f = _frequencies_of(h)
    return filter_frequencies(h, (f > low) & (f <= high))


def filter_frequencies(h: Tensor, mask: Tensor) -> Tensor:
    """Return F⁻¹(M ⊙ F(h)) for any real mask M over the frequencies of h.

    Half precision is filtered in float32, because few devices have a half-precision FFT.

    h: (…, width)   mask: (width // 2 + 1,), bool or real   returns: the same shape and dtype
    """
    expected, given = tuple(_frequencies_of(h).shape), tuple(mask.shape)
    if given != expected:
        raise ValueError(f"`mask` must have shape {expected}, got {given}")
    if h.numel() == 0:  # an empty batch, which not every FFT accepts
        return h.clone()
    wide = h.to(torch.promote_types(h.dtype, torch.float32))
    spectrum = torch.fft.rfft(wide, dim=-1) * mask
    filtered: Tensor = torch.fft.irfft(spectrum, n=h.shape[-1], dim=-1)
    return filtered.to(h.dtype)


def frequencies(width: int, *, device: torch.device | None = None) -> Tensor:
    """Return k / (width / 2) for k = 0 … width // 2, in units of the Nyquist frequency.

    returns: (width // 2 + 1,), float64; for an odd width the last one is below 1
    """
    if width < 1:
        raise ValueError(f"`width` must be at least 1, got {width}")
    # Rounded only once, so that a cutoff such as 0.2 equals its frequency exactly.
    return 2 * torch.arange(width // 2 + 1, dtype=torch.float64, device=device) / width


def _frequencies_of(h: Tensor) -> Tensor:
    if not h.is_floating_point():
        raise TypeError(f"`h` must be a floating-point tensor, got {h.dtype}")
    if h.dim() == 0:
        raise ValueError("`h` must have at least one dimension, got a scalar")
    return frequencies(h.shape[-1], device=h.device)


def _check_cutoffs(**cutoffs: float) -> None:
    for name, value in cutoffs.items():
        if not 0 <= value <= 1:
            raise ValueError(
                f"`{name}` is a fraction of the Nyquist frequency between 0 and 1, got {value}"
            )
