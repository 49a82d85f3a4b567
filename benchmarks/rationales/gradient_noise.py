"""How noisy an estimate of a gradient is, measured by making it again and again."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class GradientNoise:
    """variance: E‖g − E g‖²   signal: ‖E g‖²; both estimated without bias."""

    variance: float
    signal: float

    @property
    def ratio(self) -> float:
        """Variance over signal: how many draws must be averaged until the two are equal."""
        return self.variance / self.signal if self.signal > 0 else float("inf")


def gradient_noise(
    surrogate: Callable[[], Tensor], parameters: Sequence[Tensor], *, draws: int
) -> GradientNoise:
    """The noise of ∇ surrogate() over that many draws; the function samples anew at each call."""
    if draws < 2:
        raise ValueError(f"a variance takes two draws or more; got {draws}")
    total = [torch.zeros_like(each, dtype=torch.float64) for each in parameters]
    squares = 0.0
    for _ in range(draws):
        gradients = torch.autograd.grad(surrogate(), parameters)
        for so_far, gradient in zip(total, gradients, strict=True):
            so_far.add_(gradient)
            squares += float(gradient.double().square().sum())
    of_mean = sum(float((each / draws).square().sum()) for each in total)
    variance = (squares - draws * of_mean) / (draws - 1)
    return GradientNoise(variance, of_mean - variance / draws)
