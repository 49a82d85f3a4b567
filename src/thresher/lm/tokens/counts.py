"""How often each word occurs, as output layers need to know it."""

import torch
from torch import Tensor


def word_frequencies(frequencies: Tensor | None, vocabulary: int) -> Tensor:
    """The frequencies checked, or equal ones where none are given: (vocabulary,), float64.

    Counts or shares, whichever; words never seen have zero.
    """
    if frequencies is None:
        return torch.ones(vocabulary, dtype=torch.float64)
    if frequencies.shape != (vocabulary,):
        shape = tuple(frequencies.shape)
        raise ValueError(f"frequencies must be ({vocabulary},), one for each word, got {shape}")
    frequencies = frequencies.detach().cpu().double()
    allowed = (frequencies >= 0) & frequencies.isfinite()
    if not bool(allowed.all()):
        value = frequencies[~allowed][0].item()
        raise ValueError(f"every frequency must be at least 0 and finite, got {value}")
    return frequencies


def words_by_frequency(frequencies: Tensor | None, vocabulary: int) -> Tensor:
    """The words from the most frequent to the rarest, in order of their ids where they tie."""
    frequencies = word_frequencies(frequencies, vocabulary)
    return frequencies.argsort(descending=True, stable=True)


def inverse(permutation: Tensor) -> Tensor:
    """The place at which each number stands in a permutation."""
    places = torch.empty_like(permutation)
    places[permutation] = torch.arange(len(permutation), device=permutation.device)
    return places


def unigram(frequencies: Tensor | None, vocabulary: int, *, power: float = 1.0) -> Tensor:
    """p(w) ∝ frequency(w)^power, positive for every word: (vocabulary,), float64.

    A word never seen counts as often as the rarest one that was.
    """
    frequencies = word_frequencies(frequencies, vocabulary)
    seen = frequencies[frequencies > 0]
    rarest = seen.min() if len(seen) else 1.0
    shares = frequencies.clamp(min=rarest) ** power
    return shares / shares.sum()
