"""The options of the margin loss, as one value that all implementations take."""

import math
from dataclasses import dataclass, replace
from typing import Any, Self

from torch import Tensor


@dataclass(frozen=True, eq=False)
class LogitScaling:
    """How logits x become the scaled logits z that are compared: a soft cap, then a temperature."""

    temperature: float = 1.0
    softcap: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.temperature < math.inf:
            raise ValueError(f"`temperature` must be positive and finite, got {self.temperature}")
        if self.softcap is not None and not 0 < self.softcap < math.inf:
            raise ValueError(f"`softcap` must be positive and finite, or None, got {self.softcap}")

    def scale(self, logits: Tensor) -> Tensor:
        """Return z = softcap·tanh(x / softcap) / temperature; without softcap x / temperature.

        logits: any shape   returns: the same shape and dtype
        """
        if self.softcap is not None:
            logits = self.softcap * (logits / self.softcap).tanh()
        return logits if self.temperature == 1 else logits / self.temperature

    def slope(self, scaled: Tensor) -> Tensor | float:
        """Return ∂z/∂x as a function of z: (1 − (z·temperature / softcap)²) / temperature."""
        if self.softcap is None:
            return 1 / self.temperature
        return (1 - (scaled * (self.temperature / self.softcap)).square()) / self.temperature


@dataclass(frozen=True, eq=False, kw_only=True)
class MarginLossOptions(LogitScaling):
    """The options of `selfish_cross_entropy`, except for its tensors of one value per token.

    margin: a number, or a tensor with one for each position
    z_loss: the weight of lse², with lse the logarithm of the sum over the survivors
    """

    margin: float | Tensor
    ignore_index: int = -100
    label_smoothing: float = 0.0
    z_loss: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.margin, Tensor):
            _check_margin(self.margin)
        if not 0 <= self.label_smoothing <= 1:  # torch's type of error and wording
            raise RuntimeError(
                f"label_smoothing must be between 0.0 and 1.0. Got: {self.label_smoothing}"
            )
        if not 0 <= self.z_loss < math.inf:
            raise ValueError(f"`z_loss` must be at least 0 and finite, got {self.z_loss}")

    @property
    def has_infinite_margin(self) -> bool:
        """Whether the margin is the number infinity: every token survives."""
        return not isinstance(self.margin, Tensor) and self.margin == math.inf

    def for_positions(self, positions: slice | Tensor) -> Self:
        """Return the options for some of the positions, with their margins."""
        if isinstance(self.margin, Tensor) and self.margin.dim():
            return replace(self, margin=self.margin[positions])
        return self


def _check_margin(margin: Any) -> None:
    """Raise an error unless a margin that is no tensor is a number of at least 0."""
    if margin is None or isinstance(margin, str | bool | list | tuple):
        raise TypeError(f"`margin` must be a number or a tensor, got {margin!r}")
    if not margin >= 0:
        raise ValueError(f"`margin` must be at least 0 (inf is allowed), got {margin}")
