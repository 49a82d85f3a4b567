"""Count tokens, and turn counts into frequencies, ranks and unigram distributions.

Importing this module does not import numpy: `thresher.lm.losses` needs torch alone.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CHUNK = 1 << 20  # ids; `np.bincount` converts its argument to int64


def token_counts(ids: "NDArray[np.integer]", vocabulary: int) -> Tensor:
    """Return how often each token occurs: (tokens,) to (vocabulary,), int64."""
    import numpy as np  # noqa: PLC0415 (see above)

    counts = np.zeros(vocabulary, np.int64)
    for start in range(0, len(ids), _CHUNK):
        counts += np.bincount(ids[start : start + _CHUNK], minlength=vocabulary)
    return torch.from_numpy(counts)


def checked_frequencies(frequencies: Tensor | None, vocabulary: int) -> Tensor:
    """Return valid frequencies of all tokens, equal ones if none are given: (vocabulary,), float64.

    frequencies: (vocabulary,), counts or fractions; 0 for a token that never occurs
    """
    if frequencies is None:
        return torch.ones(vocabulary, dtype=torch.float64)
    if frequencies.shape != (vocabulary,):
        shape = tuple(frequencies.shape)
        raise ValueError(f"`frequencies` must have the shape ({vocabulary},), got {shape}")
    frequencies = frequencies.detach().cpu().double()
    allowed = (frequencies >= 0) & frequencies.isfinite()
    if not bool(allowed.all()):
        value = frequencies[~allowed][0].item()
        raise ValueError(f"`frequencies` must be at least 0 and finite, got {value}")
    return frequencies


def tokens_by_frequency(frequencies: Tensor | None, vocabulary: int) -> Tensor:
    """Return the token ids in order of falling frequency, ties in order of their ids."""
    frequencies = checked_frequencies(frequencies, vocabulary)
    return frequencies.argsort(descending=True, stable=True)


def inverse_permutation(permutation: Tensor) -> Tensor:
    """Return the position of each number in a permutation of 0, 1, …"""
    positions = torch.empty_like(permutation)
    positions[permutation] = torch.arange(len(permutation), device=permutation.device)
    return positions


def unigram_distribution(
    frequencies: Tensor | None, vocabulary: int, *, power: float = 1.0
) -> Tensor:
    """Return p(w) ∝ frequency(w)^power, positive for every token: (vocabulary,), float64.

    A token that never occurs gets the frequency of the rarest token that does.
    """
    frequencies = checked_frequencies(frequencies, vocabulary)
    seen = frequencies[frequencies > 0]
    rarest = seen.min() if len(seen) else 1.0
    powers = frequencies.clamp(min=rarest) ** power
    return powers / powers.sum()
