"""Measure the noise of a stochastic gradient by sampling it repeatedly."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class GradientNoise:
    """Unbiased estimates of the variance and the signal of a gradient g.

    variance: E‖g − E g‖²
    signal: ‖E g‖²
    """

    variance: float
    signal: float

    @property
    def ratio(self) -> float:
        """Variance over signal: the number of samples to average until the two are equal."""
        return self.variance / self.signal if self.signal > 0 else float("inf")


def gradient_noise(
    surrogate: Callable[[], Tensor], parameters: Sequence[Tensor], *, draws: int
) -> GradientNoise:
    """Measure the noise of ∇ surrogate(), which must draw new samples at each call."""
    if draws < 2:
        raise ValueError(f"`draws` must be at least 2, got {draws}")
    total = [torch.zeros_like(each, dtype=torch.float64) for each in parameters]
    squares = 0.0
    for _ in range(draws):
        gradients = torch.autograd.grad(surrogate(), parameters)
        for running_sum, gradient in zip(total, gradients, strict=True):
            running_sum.add_(gradient)
            squares += float(gradient.double().square().sum())
    squared_mean = sum(float((each / draws).square().sum()) for each in total)
    variance = (squares - draws * squared_mean) / (draws - 1)
    return GradientNoise(variance, squared_mean - variance / draws)
