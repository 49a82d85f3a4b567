"""Synthetic hidden states and weights with survivors distributed as in a trained language model.

A trained model with a cross-entropy of 2.77 kept, with a margin of 4, on average 1.6 % of its
vocabulary (median .15 %). The 2, 5, 10 and 20 % of rows with the most survivors had .43, .64, .79
and .90 of all survivors, and .76 of the 128 × 128 tiles contained a survivor when rows were sorted
by their number of survivors and tokens by frequency. Here the fraction of survivors of each row is
drawn from a log-normal distribution with that profile, logits are noise around a Zipfian token
frequency that gives such tiles, and the logit of each target is raised until its row keeps its
fraction. The order of tokens is random, so that all parts of the vocabulary are alike.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

MEDIAN, SPREAD, MEAN = 0.0015, 2.18, 0.016
NOISE, ZIPF_EXPONENT = 2.0, 0.7


@dataclass(frozen=True)
class Case:
    """input: (positions, width)   weight: (vocabulary, width)   target: (positions,)."""

    input: Tensor
    weight: Tensor
    target: Tensor


def realistic(
    positions: int,
    width: int,
    vocabulary: int,
    *,
    mean: float = MEAN,
    margin: float = 4.0,
    dtype: torch.dtype = torch.bfloat16,
    device: str = "cuda",
    seed: int = 0,
) -> Case:
    """Return a case whose rows keep a fraction `mean` of the vocabulary on average."""
    generator = torch.Generator(device).manual_seed(seed)
    weight = _weight(vocabulary, width, device, generator)
    input = torch.randn(positions, width, device=device, generator=generator) * NOISE
    input[:, 0] = math.sqrt(width)
    target = torch.randint(vocabulary, (positions,), device=device, generator=generator)
    fractions = _fractions(positions, mean, vocabulary, device, generator)
    kept = (fractions * vocabulary).round().long().clamp(1, vocabulary)
    weight = weight.to(dtype)
    for rows in torch.split(torch.arange(positions, device=device), 256):
        _raise_targets(input, weight, target, kept, rows, margin)
    return Case(input.to(dtype), weight, target)


def uniform(
    positions: int, width: int, vocabulary: int, *, device: str = "cuda", seed: int = 0
) -> Case:
    """Return a case with logits near zero, where every token survives, as before training."""
    generator = torch.Generator(device).manual_seed(seed)
    input = torch.randn(positions, width, device=device, generator=generator)
    weight = torch.randn(vocabulary, width, device=device, generator=generator)
    weight *= 0.3 / math.sqrt(width)
    target = torch.randint(vocabulary, (positions,), device=device, generator=generator)
    return Case(input.bfloat16(), weight.bfloat16(), target)


def _weight(vocabulary: int, width: int, device: str, generator: torch.Generator) -> Tensor:
    """Rows of length about 1; the first column times √width is the log-frequency of a token."""
    weight = torch.randn(vocabulary, width, device=device, generator=generator) / math.sqrt(width)
    ranks = torch.randperm(vocabulary, device=device, generator=generator)
    weight[:, 0] = -ZIPF_EXPONENT * torch.log(ranks + 5.0) / math.sqrt(width)
    return weight


def _fractions(
    positions: int, mean: float, vocabulary: int, device: str, generator: torch.Generator
) -> Tensor:
    quantiles = (torch.arange(positions, device=device) + 0.5) / positions
    fractions = (MEDIAN * torch.exp(SPREAD * torch.special.ndtri(quantiles))).clamp(max=0.95)
    fractions = (fractions * (mean / fractions.mean())).clamp(1 / vocabulary, 0.95)
    return fractions[torch.randperm(positions, device=device, generator=generator)]


def _raise_targets(
    input: Tensor, weight: Tensor, target: Tensor, kept: Tensor, rows: Tensor, margin: float
) -> None:
    """Move each input along its target's vector until z_target − margin is the kept-th logit."""
    direction = weight[target[rows]].float()
    for _ in range(2):  # the first step also changes the other logits
        logits = input[rows].to(weight.dtype) @ weight.T
        highest = logits.float().sort(1, descending=True).values
        desired = highest.gather(1, kept[rows, None] - 1)[:, 0] + margin
        now = (input[rows] * direction).sum(1)
        step = (desired - now) / direction.square().sum(1)
        input[rows] += step[:, None] * direction
