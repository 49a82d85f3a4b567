"""Hidden states and weights whose survivors lie as in a trained language model.

A model at a training cross-entropy of 2.77 kept, with a margin of 4, a mean of 1.6 % of its
vocabulary and a median of .15 %; the heaviest 2, 5, 10 and 20 % of its rows held .43, .64, .79 and
.90 of all survivors, and of 128 × 128 tiles .76 held one when rows were sorted by weight and tokens
by frequency. Here shares are drawn log-normally to that profile, logits are noise around a Zipfian
popularity that gives such tiles, and each target's logit is raised until its row keeps its share.
The order of tokens is random, so that no part of the vocabulary is better than another.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

MEDIAN, SPREAD, MEAN = 0.0015, 2.18, 0.016
NOISE, POPULARITY = 2.0, 0.7


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
    """A case whose rows keep `mean` of the vocabulary on average, spread as in a trained model."""
    generator = torch.Generator(device).manual_seed(seed)
    weight = _weight(vocabulary, width, device, generator)
    input = torch.randn(positions, width, device=device, generator=generator) * NOISE
    input[:, 0] = math.sqrt(width)
    target = torch.randint(vocabulary, (positions,), device=device, generator=generator)
    shares = _shares(positions, mean, vocabulary, device, generator)
    kept = (shares * vocabulary).round().long().clamp(1, vocabulary)
    weight = weight.to(dtype)
    for rows in torch.split(torch.arange(positions, device=device), 256):
        _raise_targets(input, weight, target, kept, rows, margin)
    return Case(input.to(dtype), weight, target)


def uniform(
    positions: int, width: int, vocabulary: int, *, device: str = "cuda", seed: int = 0
) -> Case:
    """Logits of an untrained model: near zero, so that every token survives a margin of 4."""
    generator = torch.Generator(device).manual_seed(seed)
    input = torch.randn(positions, width, device=device, generator=generator)
    weight = torch.randn(vocabulary, width, device=device, generator=generator)
    weight *= 0.3 / math.sqrt(width)
    target = torch.randint(vocabulary, (positions,), device=device, generator=generator)
    return Case(input.bfloat16(), weight.bfloat16(), target)


def _weight(vocabulary: int, width: int, device: str, generator: torch.Generator) -> Tensor:
    """Rows of length about 1; the first column times √width is a token's popularity."""
    weight = torch.randn(vocabulary, width, device=device, generator=generator) / math.sqrt(width)
    ranks = torch.randperm(vocabulary, device=device, generator=generator)
    weight[:, 0] = -POPULARITY * torch.log(ranks + 5.0) / math.sqrt(width)
    return weight


def _shares(
    positions: int, mean: float, vocabulary: int, device: str, generator: torch.Generator
) -> Tensor:
    quantiles = (torch.arange(positions, device=device) + 0.5) / positions
    shares = (MEDIAN * torch.exp(SPREAD * torch.special.ndtri(quantiles))).clamp(max=0.95)
    shares = (shares * (mean / shares.mean())).clamp(1 / vocabulary, 0.95)
    return shares[torch.randperm(positions, device=device, generator=generator)]


def _raise_targets(
    input: Tensor, weight: Tensor, target: Tensor, kept: Tensor, rows: Tensor, margin: float
) -> None:
    """Move each input along its target's vector until z_target − margin is the kept-th logit."""
    direction = weight[target[rows]].float()
    for _ in range(2):  # the first step moves the other logits too
        logits = input[rows].to(weight.dtype) @ weight.T
        highest = logits.float().sort(1, descending=True).values
        wanted = highest.gather(1, kept[rows, None] - 1)[:, 0] + margin
        now = (input[rows] * direction).sum(1)
        step = (wanted - now) / direction.square().sum(1)
        input[rows] += step[:, None] * direction
