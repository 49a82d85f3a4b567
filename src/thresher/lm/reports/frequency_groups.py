"""Group tokens by how often they occur in the training text."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from thresher.lm.tokens.counts import tokens_by_frequency

_MAX_VOCABULARY_IN_TENS = 200  # a larger vocabulary is divided into ten groups


@dataclass(frozen=True)
class FrequencyGroup:
    """The tokens of a range of frequency ranks; rank 1 is the most frequent token.

    tokens: (last − first + 1,), their ids
    """

    first: int
    last: int
    tokens: Tensor

    @property
    def name(self) -> str:
        """The name of the group in logs, tables and plots."""
        return f"ranks {self.first}-{self.last}"


def frequency_groups(counts: Tensor) -> list[FrequencyGroup]:
    """Return groups of ten tokens, or ten groups for a large vocabulary.

    counts: (vocabulary,), how often each token occurs
    """
    if len(counts) <= _MAX_VOCABULARY_IN_TENS:
        return groups_of_size(counts, 10)
    return equal_groups(counts, 10)


def groups_of_size(counts: Tensor, size: int) -> list[FrequencyGroup]:
    """Divide the tokens by frequency into groups of `size`; the last group may be smaller."""
    if size < 1:
        raise ValueError(f"`size` must be at least 1, got {size}")
    return _groups(torch.split(tokens_by_frequency(counts, len(counts)), size))


def equal_groups(counts: Tensor, number: int) -> list[FrequencyGroup]:
    """Divide the tokens by frequency into that number of groups of nearly equal size."""
    if not 1 <= number <= len(counts):
        raise ValueError(f"cannot divide {len(counts)} tokens into {number} groups")
    return _groups(tokens_by_frequency(counts, len(counts)).tensor_split(number))


def _groups(parts: Sequence[Tensor]) -> list[FrequencyGroup]:
    ends = torch.tensor([len(part) for part in parts]).cumsum(0).tolist()
    return [
        FrequencyGroup(end - len(part) + 1, end, part)
        for part, end in zip(parts, ends, strict=True)
    ]


def group_means(values: Tensor, groups: Sequence[FrequencyGroup]) -> list[float]:
    """Return the mean value of each group's tokens, without tokens whose value is NaN.

    values: (vocabulary,)   returns: one mean per group, NaN if no token has a value
    """
    return [values[group.tokens].nanmean().item() for group in groups]
