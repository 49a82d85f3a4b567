"""The differentiated softmax: wide vectors for frequent words, narrow ones for rare words."""

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.lm.output_layers.module import RankedModule, initial_weight

Band = tuple[int, int]  # number of words, width of their vectors


class DifferentiatedSoftmax(RankedModule):
    """p(w | h) = softmax(z)_w with z_w = W_b·h_b + b_w (Chen, Grangier & Auli 2016).

    Words are divided into bands by frequency and h into as many slices; the logits of a band depend
    on its own slice alone. A position costs Σ words·width over the bands instead of V·width.

    bands: (words, width) of each, from the most frequent words on; they must add up to the
    vocabulary and to the width. By default `default_bands`.
    """

    def __init__(
        self,
        width: int,
        vocabulary: int,
        *,
        bands: Sequence[Band] | None = None,
        frequencies: Tensor | None = None,
    ) -> None:
        super().__init__(width, vocabulary, frequencies=frequencies)
        bands = default_bands(width, vocabulary) if bands is None else bands
        if any(words < 1 or band_width < 1 for words, band_width in bands):
            raise ValueError(f"every band must have words and a width, got {list(bands)}")
        words, widths = (sum(band[which] for band in bands) for which in range(2))
        if (words, widths) != (vocabulary, width):
            rule = f"`bands` must add up to {vocabulary} words and a width of {width}"
            raise ValueError(f"{rule}, got {words} and {widths}")
        self.widths = [band_width for _, band_width in bands]
        self.weights = nn.ParameterList(initial_weight(*band) for band in bands)
        self.biases = nn.ParameterList(torch.zeros(words) for words, _ in bands)

    def _log_prob(self, hidden: Tensor, target: Tensor) -> Tensor:
        logits = self._ranked_logits(hidden)
        return -functional.cross_entropy(logits, self.ranks[target], reduction="none")

    def _all_log_probs(self, hidden: Tensor) -> Tensor:
        return self._ranked_logits(hidden).log_softmax(-1)[:, self.ranks]

    def _ranked_logits(self, hidden: Tensor) -> Tensor:
        """Return logits in order of frequency, the most frequent word first: (rows, vocabulary)."""
        slices = hidden.split_with_sizes(self.widths, -1)
        bands = zip(slices, self.weights, self.biases, strict=True)
        return torch.cat([functional.linear(*band) for band in bands], -1)


def default_bands(width: int, vocabulary: int) -> list[Band]:
    """Give half of the width to the first 5 % of words, 1/4 to the next 20 %, then the rest.

    There are fewer bands if the words or dimensions are too few to divide.
    """
    fractions = (0.05, 0.25, 1)
    cuts = sorted({min(vocabulary, max(1, round(vocabulary * each))) for each in fractions})
    cuts = cuts[-width:]
    words = [b - a for a, b in itertools.pairwise([0, *cuts])]
    widths: list[int] = []
    for _ in words[1:]:
        widths.append(max(1, (width - sum(widths)) // 2))
    return list(zip(words, [*widths, width - sum(widths)], strict=True))
