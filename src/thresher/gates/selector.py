"""From a word's vector to its gate."""

from copy import deepcopy

import torch
from torch import Tensor, nn
from torch.nn import functional

from thresher.maths.gate_forms import check_rate, gate, reachable_rates
from thresher.maths.hard_kumaraswamy import KumaraswamyGate
from thresher.validation import require

# Where (a, b) may lie. Gates that are cut at a threshold have one hump and use a, b ≥ 1; a
# stretched gate can close most of the time only with the U-shaped densities below 1.
PARAMETER_RANGES = {"thresholded": (1.0, 10.0), "continuous": (1.0, 10.0), "stretched": (0.1, 10.0)}

_WORDS_IN_A_CACHE = 512


class Selector(nn.Module):
    """Two layers that give every word a gate: a, b = softplus(W₂ GELU(W₁ LayerNorm(h))) + low.

    vectors: (words, width)   returns: gates of shape (words,)
    """

    def __init__(self, width: int, *, hidden: int = 256, form: str = "thresholded") -> None:
        super().__init__()
        self.low, self.high = PARAMETER_RANGES.get(form, (1.0, 10.0))
        check_rate(0.5, form, self.low, self.high)  # an unknown form is refused here
        self.form = form
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Linear(width, hidden)
        self.outer = nn.Linear(hidden, 2)

    def forward(self, vectors: Tensor) -> KumaraswamyGate:
        """The gate of each word."""
        if vectors.device.type == "cpu" and not torch.is_grad_enabled():
            outer = torch.cat(
                [self._outer(part) for part in torch.split(vectors, _WORDS_IN_A_CACHE)]
            )
        else:
            outer = self._outer(vectors)
        a, b = (functional.softplus(outer) + self.low).clamp(max=self.high).unbind(-1)
        return gate(self.form, a, b, validate_args=False)

    def _outer(self, vectors: Tensor) -> Tensor:
        outer: Tensor = self.outer(functional.gelu(self.inner(self.norm(vectors))))
        return outer

    def moved(self, by: float) -> "Selector":
        """A copy whose gates are all more open, or less: a and b move apart before softplus."""
        copy = deepcopy(self)
        with torch.no_grad():
            copy.outer.bias.add_(torch.tensor([by, -by], device=copy.outer.bias.device))
        return copy


def require_rate(name: str, rate: float, form: str) -> None:
    """Raise InputError unless gates of that form can be open at the rate."""
    least, greatest = reachable_rates(form, *PARAMETER_RANGES[form])
    rule = f"between {least:.1g} and {greatest:.3g}, which {form} gates can reach"
    require(least <= rate <= greatest, name, f"{rate:g}", rule)


def seeded_selector(seed: int, width: int, *, hidden: int = 256, form: str) -> Selector:
    """A new selector whose weights follow from the seed alone; the global generator is kept."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Selector(width, hidden=hidden, form=form)
