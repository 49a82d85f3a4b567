"""Tokens grouped by how often they occur in the training text."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from thresher.lm.tokens.counts import words_by_frequency

_MOST_TENS = 200  # tokens; a larger vocabulary is cut in ten equal parts instead


@dataclass(frozen=True)
class Group:
    """The tokens of ranks first to last, rank 1 being the most frequent: (tokens,)."""

    first: int
    last: int
    tokens: Tensor

    @property
    def name(self) -> str:
        """As a column or a curve is called."""
        return f"ranks {self.first}-{self.last}"


def groups_of(counts: Tensor, *, size: int) -> list[Group]:
    """Runs of `size` tokens by falling frequency; the last may be shorter."""
    if size < 1:
        raise ValueError(f"a group has at least 1 token, got {size}")
    runs = torch.split(words_by_frequency(counts, len(counts)), size)
    return [Group(i * size + 1, i * size + len(run), run) for i, run in enumerate(runs)]


def quantiles(counts: Tensor, *, parts: int = 10) -> list[Group]:
    """As many groups, of near-equal size."""
    if not 1 <= parts <= len(counts):
        raise ValueError(f"{len(counts)} tokens cannot be cut in {parts} parts")
    runs = words_by_frequency(counts, len(counts)).tensor_split(parts)
    ends = torch.tensor([len(run) for run in runs]).cumsum(0).tolist()
    return [Group(end - len(run) + 1, end, run) for run, end in zip(runs, ends, strict=True)]


def popularity_groups(counts: Tensor) -> list[Group]:
    """Tens where there are few tokens, otherwise ten quantiles."""
    return groups_of(counts, size=10) if len(counts) <= _MOST_TENS else quantiles(counts)


def group_means(values: Tensor, groups: Sequence[Group]) -> list[float]:
    """The mean over each group's tokens, tokens without a value (NaN) left out.

    values: (vocabulary,)   returns: one for each group, NaN where no token has a value
    """
    return [values[group.tokens].nanmean().item() for group in groups]
