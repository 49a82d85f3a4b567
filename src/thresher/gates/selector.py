"""The selector: a small network from a word's vector to its gate."""

from collections.abc import Mapping
from copy import deepcopy

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from thresher.encoders.device_transfer import to_device
from thresher.gates.choices import PARAMETER_RANGES, GateForm
from thresher.gates.optimization import seeded
from thresher.maths.gate_forms import check_rate, gate, reachable_rates
from thresher.maths.hard_kumaraswamy import KumaraswamyGate
from thresher.maths.row_blocks import in_row_blocks
from thresher.validation import require

_ROWS_PER_PART = 65_536


class Selector(nn.Module):
    """Two layers that give every word a gate: a, b = softplus(W₂ GELU(W₁ LayerNorm(h))) + low.

    vectors: (words, width)   returns: gates of shape (words,)
    gate_options: arguments of the form, `threshold` or `lower` and `upper`
    """

    def __init__(
        self,
        width: int,
        *,
        hidden: int = 256,
        form: str = GateForm.THRESHOLDED,
        gate_options: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__()
        self.low, self.high = PARAMETER_RANGES.get(form, (1.0, 10.0))
        self.gate_options = dict(gate_options or {})
        with torch.device("cpu"):  # the selector itself may be built on the meta device
            # raises for an unknown form or an option it does not have
            check_rate(0.5, form, self.low, self.high, **self.gate_options)
        self.form = form
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, hidden)
        self.outer = nn.Linear(hidden, 2)

    def forward(self, vectors: Tensor) -> KumaraswamyGate:
        """Return the gate of each word."""
        return self.from_inner(self.inner(self.norm(vectors)))

    def from_inner(self, inner: Tensor) -> KumaraswamyGate:
        """Return the gates, given the outputs of the first layer: (words, hidden)."""
        return self.from_outer(self.outer_of(inner))

    def outer_of(self, inner: Tensor) -> Tensor:
        """Return the outputs of the second layer, given those of the first: (words, 2)."""
        outer: Tensor = self.outer(functional.gelu(inner))
        return outer

    def from_outer(self, outer: Tensor) -> KumaraswamyGate:
        """Return the gates, given the outputs of the second layer: (words, 2)."""
        a, b = (functional.softplus(outer) + self.low).clamp(max=self.high).unbind(-1)
        return gate(self.form, a, b, **self.gate_options, validate_args=False)

    def prob_open(self, vectors: Tensor) -> Tensor:
        """Return P(open) of each word, which does not depend on the other words: (words,)."""
        opened = in_row_blocks(lambda rows: self(rows).prob_open()[:, None], vectors)
        return opened[:, 0]

    def shifted(self, shift: float) -> "Selector":
        """Return a copy with all gates more open (shift > 0) or less: ±shift before softplus."""
        copy = deepcopy(self)
        with torch.no_grad():
            copy.outer.bias.add_(torch.tensor([shift, -shift], device=copy.outer.bias.device))
        return copy


def seeded_selector(
    seed: int,
    width: int,
    *,
    hidden: int = 256,
    form: str,
    gate_options: Mapping[str, float] | None = None,
) -> Selector:
    """Return a new selector whose weights depend on the seed alone."""
    with seeded(seed):
        return Selector(width, hidden=hidden, form=form, gate_options=gate_options)


def open_probabilities(
    selector: Selector, vectors: NDArray[np.float16] | Tensor, device: torch.device
) -> Tensor:
    """Return P(open) of every unit, on the CPU: (units,).

    vectors: (units, width), may be a memory-mapped array   device: of the selector
    """
    parts = [torch.zeros(0)]
    with torch.no_grad():
        for low in range(0, len(vectors), _ROWS_PER_PART):
            part = vectors[low : low + _ROWS_PER_PART]
            rows = part if isinstance(part, Tensor) else torch.from_numpy(np.array(part))
            parts.append(selector.prob_open(to_device(rows, device).float()).cpu())
    return torch.cat(parts)


def require_rate(
    name: str, rate: float, form: str, gate_options: Mapping[str, float] | None = None
) -> None:
    """Raise InputError unless gates of this form can be open at the rate."""
    low, high = reachable_rates(form, *PARAMETER_RANGES[form], **(gate_options or {}))
    rule = f"between {low:.1g} and {high:.3g}, which {form} gates can reach"
    require(low <= rate <= high, name, f"{rate:g}", rule)
