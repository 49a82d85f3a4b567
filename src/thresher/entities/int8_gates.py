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
from thresher.maths.row_blocks import in_row_blocks

RANGE = "gates"  # the name of the range of x̂ in `ranges.safetensors` of saved models
_ROWS_PER_BLOCK = 512


class Int8Gates:
    """Gate scores and links of words.

    ranges: (2, width), the minimum and maximum of each channel of x̂, from `normalized_range`
    max_weight: the largest integer that a weight becomes; by default what is exact on this CPU
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
        self._sizes = [len(each) for each in biases]
        self._width, self._epsilon = ranges.shape[1], selector.norm.eps
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
        normalized = functional.layer_norm(vectors, (self._width,), eps=self._epsilon)
        inner = torch.split(self._inner(self._quantize(normalized)), self._sizes, dim=1)
        opened = in_row_blocks(self._prob_open, inner[0], block=_ROWS_PER_BLOCK)[:, 0]
        return opened, None if self._link_gate is None else self._link_gate.from_inner(inner[1])

    def _prob_open(self, inner: Tensor) -> Tensor:
        return self._selector.from_inner(inner).prob_open()[:, None]


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
