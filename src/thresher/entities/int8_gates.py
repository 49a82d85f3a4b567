"""The first layers of the selector and of the link gate as one 8-bit product.

Both read the normalized vector of a word: LayerNorm(h) = γ x̂ + β, and W (γ x̂ + β) + b is a linear
layer of x̂ with the weights W γ and the bias W β + b.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.encoders.int8_linear import Int8Linear, Quantizer, channel_divisors
from thresher.entities.finding.link_gate import LinkGate
from thresher.gates.selector import Selector

RANGE = "gates"  # the name of the range of x̂ in `ranges.safetensors` of saved models
_ROWS_PER_BLOCK = 512  # words computed at a time, which fit into the cache of a CPU


class Int8Gates:
    """Gate scores and links of words.

    ranges: (2, width), the minimum and maximum of each channel of x̂, from `normalized_range`
    max_weight: the largest integer of a weight; by default the largest that is exact on this CPU
    """

    def __init__(
        self,
        selector: Selector,
        link_gate: LinkGate | None,
        ranges: Tensor,
        *,
        max_weight: int | None = None,
    ) -> None:
        self._selector, self._link_gate = selector, link_gate
        layers = [_folded(each.norm, each.inner) for each in (selector, link_gate) if each]
        weights, biases = zip(*layers, strict=True)
        self._hidden, self._epsilon = len(biases[0]), selector.norm.eps
        self._quantize = Quantizer(ranges, channel_divisors(ranges))
        self._inner = Int8Linear(
            torch.cat(weights), torch.cat(biases), self._quantize, max_weight=max_weight
        )

    def __call__(self, vectors: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return P(open) of each word, and the log-odds of the link gate, if there is one.

        vectors: (words, width)   returns: (words,) each
        """
        if not len(vectors):
            return vectors.new_zeros(0), None if self._link_gate is None else vectors.new_zeros(0)
        outer, links = [], []
        for low in range(0, len(vectors), _ROWS_PER_BLOCK):
            # The link of the last word of a block needs the first word of the next one.
            block = vectors[low : low + _ROWS_PER_BLOCK + 1]
            inner = self._inner(self._quantize.normalized(block, epsilon=self._epsilon))
            of_selector, of_links = inner[:, : self._hidden], inner[:, self._hidden :]
            outer.append(self._selector.outer_of(_padded(of_selector[:_ROWS_PER_BLOCK])))
            if self._link_gate is not None:
                left, right = of_links.chunk(2, dim=1)
                links.append(self._link_gate.of_pairs(_padded(left[:-1] + right[1:])))
        opened = self._selector.from_outer(torch.cat(outer)).prob_open()[: len(vectors)]
        if self._link_gate is None:
            return opened, None
        joined = torch.cat(links)[: len(vectors)]
        joined[-1] = 0.0  # the last word has no next one
        return opened, joined


def _padded(rows: Tensor) -> Tensor:
    """Return a contiguous block of one size: torch rounds differently for other shapes."""
    if len(rows) == _ROWS_PER_BLOCK:
        return rows.contiguous()
    return functional.pad(rows, (0, 0, 0, _ROWS_PER_BLOCK - len(rows)))


def normalized_range(vectors: Tensor) -> Tensor:
    """Return the minimum and maximum of each channel of x̂: (2, width).   vectors: (words, width)"""
    normalized = functional.layer_norm(vectors.float(), vectors.shape[1:])
    return torch.stack(list(normalized.aminmax(dim=0)))


def _folded(norm: nn.LayerNorm, linear: nn.Linear) -> tuple[Tensor, Tensor]:
    """Return weights and bias of the linear layer after the norm, as a layer of x̂."""
    return (
        (linear.weight * norm.weight).detach(),
        (linear.bias + linear.weight @ norm.bias).detach(),
    )
