"""What may be done to logits before they are compared: a soft cap, then a temperature."""

import math

from torch import Tensor


def scale_logits(
    logits: Tensor, *, temperature: float = 1.0, softcap: float | None = None
) -> Tensor:
    """z = softcap·tanh(x / softcap) / temperature; with no softcap z = x / temperature.

    logits: any shape   returns: the same shape and dtype
    """
    if softcap is not None:
        logits = softcap * (logits / softcap).tanh()
    return logits if temperature == 1 else logits / temperature


def scale_slope(
    scaled: Tensor, *, temperature: float = 1.0, softcap: float | None = None
) -> Tensor | float:
    """∂z/∂x of `scale_logits`, from z itself: (1 − (z·temperature / softcap)²) / temperature."""
    if softcap is None:
        return 1 / temperature
    return (1 - (scaled * (temperature / softcap)).square()) / temperature


def check_scale(temperature: float, softcap: float | None) -> None:
    """Raise unless both are usable."""
    if not 0 < temperature < math.inf:
        raise ValueError(f"temperature must be positive and finite, got {temperature}")
    if softcap is not None and not 0 < softcap < math.inf:
        raise ValueError(f"softcap must be positive and finite, or None, got {softcap}")
