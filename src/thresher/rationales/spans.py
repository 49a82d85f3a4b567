"""Convert the words of a rationale to spans, whose kinds are "for" or "against" the label."""

from collections.abc import Sequence

import torch
from torch import Tensor

from thresher.rationales.choices import Direction
from thresher.text.annotations import Span
from thresher.text.sentences import Word


def spans_of(
    text: str,
    words: Sequence[Word],
    selected: Tensor,
    scores: Tensor,
    contributions: Tensor,
    *,
    split_directions: bool = False,
) -> tuple[Span, ...]:
    """Return runs of selected words with their mean scores; the kind is the sign of their sum.

    selected, scores, contributions: (words,), the last with a sign
    split_directions: end a run where words for the label meet words against it
    """
    speaks_for = (contributions >= 0).tolist()
    runs: list[list[int]] = []
    for i in selected.nonzero()[:, 0].tolist():
        joins = runs and runs[-1][-1] == i - 1
        if joins and not (split_directions and speaks_for[i] != speaks_for[i - 1]):
            runs[-1].append(i)
        else:
            runs.append([i])
    return tuple(
        Span(
            start=words[run[0]].start,
            end=words[run[-1]].end,
            text=text[words[run[0]].start : words[run[-1]].end],
            score=min(1.0, float(scores[run].mean())),
            kind=_direction(float(contributions[run].sum())),
        )
        for run in runs
    )


def span_sums(
    words: Sequence[Word], spans: Sequence[Span], contributions: Tensor
) -> tuple[float, ...]:
    """Return the sum of the contributions of the words of each span."""
    return tuple(
        sum(
            value
            for word, value in zip(words, contributions.tolist(), strict=True)
            if span.start <= word.start < span.end
        )
        for span in spans
    )


def strongest_words(contributions: Tensor, count: int) -> Tensor:
    """Mark the words with the largest contributions, for or against: (words,)."""
    selected = torch.zeros(len(contributions), dtype=torch.bool)
    selected[contributions.abs().topk(min(count, len(contributions))).indices] = True
    return selected


def relative_sizes(contributions: Tensor) -> Tensor:
    """Return the size of each contribution, divided by the largest: (words,), from 0 to 1."""
    sizes = contributions.abs()
    return sizes / sizes.max().clamp(min=1e-12)


def _direction(contribution: float) -> Direction:
    return Direction.FOR if contribution >= 0 else Direction.AGAINST
