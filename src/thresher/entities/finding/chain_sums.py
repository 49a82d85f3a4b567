"""Forward and backward sums of the span model over many stretches of words at once.

Stretches are sorted by length, the longest first. Step i of a sum then reads the i-th words of the
first `counts[i]` stretches as slices of arrays, without padding.
"""

from bisect import bisect_right
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Indices = NDArray[np.int64]

MAX_SPAN = 16  # words


@dataclass(frozen=True)
class ChainWeights:
    """The factors of a chain's weight at each word: (words,) each.

    start: the probability that a name starts, wherever one can
    odds: the weight of a word inside a name
    continues: the probability that a name at the word continues to the next one
    begins: the probability that a name begins with the word
    continue_weight: `continues` times the odds of the next word
    ends: the probability that a name ends with the word
    ends_last: the same where no other name follows it directly
    """

    start: float
    odds: Floats
    continues: Floats
    begins: Floats
    continue_weight: Floats
    ends: Floats
    ends_last: Floats

    @classmethod
    def of(
        cls, start: float, odds: Floats, continues: Floats, can_start: Flags, can_end: Flags
    ) -> "ChainWeights":
        """Compute the factors that follow from the others, (words,) each."""
        ends = 1 - continues
        return cls(
            start,
            odds,
            continues,
            begins=np.where(can_start, start, 0.0),
            continue_weight=continues * np.append(odds[1:], 0.0),
            ends=ends,
            ends_last=np.where(can_end, ends * (1 - start), 0.0),
        )

    def rows(self, index: Indices) -> "ChainWeights":
        """Return the weights of some words."""
        _, *arrays = (getattr(self, each.name) for each in fields(self))
        return ChainWeights(self.start, *(each[index] for each in arrays))


@dataclass(frozen=True)
class _Steps:
    """The words of stretches, step by step: first words, second words, and so on.

    words: (words of all stretches,)   stretch: (words of all stretches,), 0 is the longest
    ends: (words of all stretches,), the end of the stretch of each
    slices: the words of each step
    """

    words: Indices
    stretch: Indices
    ends: Indices
    slices: list[slice]

    @classmethod
    def of(cls, first: Indices, end: Indices) -> "_Steps":
        lengths = end - first
        order = np.argsort(-lengths, kind="stable")
        counts = np.cumsum(np.bincount(lengths)[::-1])[-2::-1]  # of more than i words
        offsets = np.cumsum(counts) - counts
        step = np.repeat(np.arange(len(counts)), counts)
        stretch = np.arange(len(step)) - offsets[step]
        slices = [slice(low, low + n) for low, n in zip(offsets, counts, strict=True)]
        return cls(first[order][stretch] + step, stretch, end[order][stretch], slices)


def span_probabilities(
    first: Indices, end: Indices, weights: ChainWeights, *, at_least: float
) -> tuple[Indices, Indices, Floats]:
    """Return the first word, the end and the probability of each span that is not improbable.

    first, end: (stretches,), of the stretches between words that are outside of names
    at_least: the smallest probability of a span
    """
    if not len(first):
        return first, end, np.zeros(0)
    steps = _Steps.of(first, end)
    own = weights.rows(steps.words)
    with np.errstate(over="ignore", invalid="ignore"):  # the sums of an absurd model are infinite
        before, total = _forward(steps, own)
        after = np.empty(len(weights.odds))
        after[steps.words] = _backward(steps, own)
        weight = before * own.odds / total[steps.stretch]
        word, word_end, found = steps.words, steps.ends, []
        for length in range(1, MAX_SPAN + 1):
            probability = weight * after[word + length - 1]
            likely = probability >= at_least
            found.append((word[likely], word[likely] + length, probability[likely]))
            longer = (weight != 0) & (word + length < word_end)
            if not longer.any():
                break
            word, word_end = word[longer], word_end[longer]
            weight = weight[longer] * weights.continue_weight[word + length - 1]
    starts, ends, probabilities = map(np.concatenate, zip(*found, strict=True))
    return starts, ends, probabilities


def _forward(steps: _Steps, own: ChainWeights) -> tuple[Floats, Floats]:
    """Return the weight of starting a name at each word, and that of all chains of a stretch."""
    before = np.empty(len(steps.words))
    outside = np.ones(len(before[steps.slices[0]]))
    total, ended, continued = np.empty_like(outside), np.zeros(1), np.zeros(1)
    for now, following in zip(steps.slices, [*steps.slices[1:], slice(0, 0)], strict=True):
        more = following.stop - following.start  # stretches with another word
        free = outside + ended  # of not continuing a name
        begin = free * own.begins[now]
        before[now] = begin
        inside = (begin + continued) * own.odds[now]
        outside = free * (1 - own.start)
        last = outside[more:] * (1 - own.start) + inside[more:] * own.ends_last[now][more:]
        total[more : len(outside)] = last
        outside, inside = outside[:more], inside[:more]
        ended, continued = inside * own.ends[now][:more], inside * own.continues[now][:more]
    return before, total


def _backward(steps: _Steps, own: ChainWeights) -> Floats:
    """Return for each word the weight of all that follows a name that ends with it."""
    after = own.ends_last.copy()  # of the last words of stretches
    outside = np.full(len(after[steps.slices[0]]), 1 - own.start)
    inside, following = np.empty_like(outside), slice(0, 0)
    begin = own.begins * own.odds
    for now in reversed(steps.slices):
        more = following.stop - following.start  # stretches with another word
        free = (1 - own.start) * outside[:more] + begin[following] * inside[:more]
        ending = own.ends[now][:more] * free
        after[now][:more] = ending
        inside[:more] = ending + own.continue_weight[now][:more] * inside[:more]
        inside[more : now.stop - now.start] = own.ends_last[now][more:]
        outside[:more] = free
        following = now
    return after


def best_spans(
    starts: Indices, ends: Indices, probabilities: Floats
) -> tuple[Indices, Indices, Floats]:
    """Return the non-overlapping spans with the largest sum of probabilities, in order."""
    order = np.lexsort((starts, ends))
    starts, ends, probabilities = starts[order], ends[order], probabilities[order]
    next_start = np.minimum.accumulate(starts[::-1])[::-1][1:]  # of all spans after each
    is_apart = ends[:-1] <= next_start
    bounds = np.concatenate([[0], np.flatnonzero(is_apart) + 1, [len(starts)]])
    sizes = np.diff(bounds)
    chosen = np.ones(len(starts), dtype=np.bool_)
    first = bounds[:-1][sizes == 2]
    chosen[first] = probabilities[first] >= probabilities[first + 1]
    chosen[first + 1] = ~chosen[first]
    for group in np.flatnonzero(sizes > 2).tolist():
        own = slice(bounds[group], bounds[group + 1])
        arrays = (starts[own], ends[own], probabilities[own])
        chosen[own] = _best_of_overlapping(*(each.tolist() for each in arrays))
    return starts[chosen], ends[chosen], probabilities[chosen]


def _best_of_overlapping(
    starts: list[int], ends: list[int], probabilities: list[float]
) -> list[bool]:
    """Return which spans are chosen, so that none overlap and their sum is the largest.

    The spans are sorted by their end, then by their start.
    """
    best, previous = [0.0], list[int]()  # of the first i spans; −1 if span i is not chosen
    for start, probability in zip(starts, probabilities, strict=True):
        before = bisect_right(ends, start)  # spans that end before this one starts
        value = best[before] + probability
        is_better = value > best[-1]
        previous.append(before if is_better else -1)
        best.append(value if is_better else best[-1])
    chosen, count = [False] * len(ends), len(ends)
    while count:
        chosen[count - 1] = previous[count - 1] >= 0
        count = previous[count - 1] if chosen[count - 1] else count - 1
    return chosen
