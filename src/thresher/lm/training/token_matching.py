"""Match tokens of rarely seen text with frequent tokens that have the same neighbours.

A small language next to a large one uses tokens of its own. Whatever the model learns about the
large language transfers to the small one if the embedding of each small-language token lies next to
that of its counterpart. Gradient descent finds the counterparts only with some random seeds, but
the training text itself shows them: counterparts are about equally frequent within their language,
and so are their neighbours. `match_tokens` finds them as one solves a substitution cipher, from the
counts of adjacent tokens and without any label.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

RARE_REGION = 1 / 3  # of the mean frequency of neighbourhoods; text below it is rarely seen
WALK_STEPS = 4  # of a random walk, after which it has left the neighbours of one token
MAX_TOKENS = 2048  # rarely seen tokens to match, and frequent tokens to match them with
MAX_MATCHES = 8  # frequent tokens per match

_PAIRS_AT_ONCE = 1 << 20
_ITERATIONS = 30
_BALANCING_STEPS = 5
_MAX_EVIDENCE = 10.0  # occurrences; more do not make a match sharper
_SMOOTHING = 0.05  # pairs of independent tokens for each observed pair
_FREQUENCY_SCALE = 0.3  # of the difference of log frequencies before the first iteration


class PairCounts(NamedTuple):
    """How often one token follows another; pairs that never occur are left out.

    first, second: (pairs,), ids   number: (pairs,), float32   vocabulary: the number of tokens
    """

    first: Tensor
    second: Tensor
    number: Tensor
    vocabulary: int

    def both_ways(self) -> "PairCounts":
        """Return the counts of neighbours on either side; a pair may appear twice."""
        first = torch.cat([self.first, self.second])
        second = torch.cat([self.second, self.first])
        return PairCounts(first, second, self.number.repeat(2), self.vocabulary)

    def totals(self) -> Tensor:
        """Return the sum over all second tokens: (vocabulary,)."""
        return torch.zeros(self.vocabulary).index_add_(0, self.first, self.number)

    def means(self, values: Tensor) -> Tensor:
        """Return the mean value of the tokens that follow each token: (vocabulary,).

        A token that nothing follows keeps its own value.
        """
        sums = torch.zeros(self.vocabulary).index_add_(
            0, self.first, self.number * values[self.second]
        )
        totals = self.totals()
        return torch.where(totals > 0, sums / totals, values)

    def block(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Return the counts of some first and second tokens as a matrix: (rows, columns)."""
        row, column = (torch.full((self.vocabulary,), -1) for _ in range(2))
        row[rows] = torch.arange(len(rows))
        column[columns] = torch.arange(len(columns))
        row, column = row[self.first], column[self.second]
        inside = (row >= 0) & (column >= 0)
        dense = torch.zeros(len(rows), len(columns))
        return dense.index_put_((row[inside], column[inside]), self.number[inside], accumulate=True)


class TokenMatches(NamedTuple):
    """Frequent tokens that rarely seen tokens correspond to.

    tokens: (rare,), ids
    matches: (rare, matches), ids of frequent tokens
    weights: (rare, matches), positive, each row sums to 1
    """

    tokens: Tensor
    matches: Tensor
    weights: Tensor


def count_pairs(windows: Iterable[Tensor], vocabulary: int) -> PairCounts:
    """Count the adjacent tokens within each window.

    windows: (…, length) each, ids
    """
    keys = counts = torch.zeros(0, dtype=torch.int64)
    waiting: list[Tensor] = []

    def merged() -> tuple[Tensor, Tensor]:
        found, number = torch.unique(torch.cat(waiting), return_counts=True)
        all_keys, place = torch.unique(torch.cat([keys, found]), return_inverse=True)
        all_counts = torch.cat([counts, number])
        return all_keys, torch.zeros_like(all_keys).index_add_(0, place, all_counts)

    for window in windows:
        ids = window.cpu().long()
        waiting.append((ids[..., :-1] * vocabulary + ids[..., 1:]).flatten())
        if sum(map(len, waiting)) >= _PAIRS_AT_ONCE:
            keys, counts = merged()
            waiting.clear()
    if waiting:
        keys, counts = merged()
    return PairCounts(keys // vocabulary, keys % vocabulary, counts.float(), vocabulary)


def rarely_seen(pairs: PairCounts) -> Tensor:
    """Return which tokens occur in rarely seen text: (vocabulary,), bool.

    The neighbourhood of a token is where a short random walk over adjacent tokens leads. A rare
    word of a large language leads to frequent words, a frequent word of a small language to other
    words of the small language. Each pair counts by its contribution to the mutual information of
    adjacent tokens, if positive, so that the walk does not cross from one language to the other
    through spaces and punctuation. A token that never occurs is not in rarely seen text.
    """
    neighbours = pairs.both_ways()
    count = neighbours.totals()
    frequency = count / count.sum().clamp(min=1)
    expected = frequency[pairs.first] * frequency[pairs.second] * count.sum() / 2
    information = pairs.number * (pairs.number / expected).log().clamp(min=0)
    associated = pairs._replace(number=information).both_ways()
    neighbourhood = frequency
    for _ in range(WALK_STEPS):
        neighbourhood = associated.means(neighbourhood)
    mean = (frequency * neighbourhood).sum()
    return (count > 0) & (neighbourhood < RARE_REGION * mean)


def match_tokens(pairs: PairCounts) -> TokenMatches | None:
    """Return matches of all tokens in rarely seen text, or None if there is no such text."""
    is_rare = rarely_seen(pairs)
    count = pairs.both_ways().totals()
    rare = _most_frequent(count, is_rare)
    frequent = _most_frequent(count, ~is_rare & (count > 0))
    if not len(rare) or not len(frequent):
        return None
    probability = _Cipher.from_pairs(pairs, rare, frequent).solve()
    weights, places = probability.topk(min(MAX_MATCHES, len(frequent)), dim=1)
    weights = weights.clamp(min=torch.finfo(weights.dtype).tiny)
    return TokenMatches(rare, frequent[places], weights / weights.sum(1, keepdim=True))


def _most_frequent(count: Tensor, allowed: Tensor) -> Tensor:
    order = count.masked_fill(~allowed, -1).argsort(descending=True, stable=True)
    return order[: min(int(allowed.sum()), MAX_TOKENS)]


@dataclass(frozen=True)
class _Cipher:
    """The statistics of rarely seen text, and a model of the frequent text that may explain it.

    With counts n, T[a, b] = p(rare token a stands for frequent token b) and the log-probabilities
    f[b, d] = log p(d follows b), the expected log-likelihood of one occurrence of a, if it stands
    for b, is the mean of f[b, ·] over what follows a and of f[·, b] over what precedes it, where
    neighbours are deciphered by T too. `solve` alternates between this score and T, under the
    condition that frequent tokens keep their frequencies (Sinkhorn's algorithm).

    after, before: (rare, rare), fraction of a's neighbours on each side that are a rare token
    after_frequent, before_frequent: (rare, frequent), the same for frequent tokens
    follows: (frequent, frequent), f
    rare_frequency, frequent_frequency: (rare,) and (frequent,), each sums to 1
    evidence: (rare,), how many occurrences a match is based on, up to a limit
    """

    after: Tensor
    before: Tensor
    after_frequent: Tensor
    before_frequent: Tensor
    follows: Tensor
    rare_frequency: Tensor
    frequent_frequency: Tensor
    evidence: Tensor

    @classmethod
    def from_pairs(cls, pairs: PairCounts, rare: Tensor, frequent: Tensor) -> "_Cipher":
        """Select the counts of rare and frequent tokens."""
        after = pairs.block(rare, rare)
        before = after.t()
        after_frequent = pairs.block(rare, frequent)
        before_frequent = pairs.block(frequent, rare).t()
        neighbours = sum(each.sum(1) for each in (after, before, after_frequent, before_frequent))
        scale = neighbours.clamp(min=1)[:, None]  # type: ignore[union-attr]
        joint = pairs.block(frequent, frequent)
        frequency = (joint.sum(0) + joint.sum(1) + 1) / (2 * joint.sum() + len(frequent))
        joint = joint + (_SMOOTHING * joint.sum() + 1) * frequency[:, None] * frequency
        return cls(
            after / scale,
            before / scale,
            after_frequent / scale,
            before_frequent / scale,
            (joint / joint.sum(1, keepdim=True)).log(),
            scale[:, 0] / scale.sum(),
            frequency,
            scale[:, 0].clamp(max=_MAX_EVIDENCE),
        )

    def solve(self) -> Tensor:
        """Return T: (rare, frequent). It starts from the frequencies of tokens alone."""
        difference = self.rare_frequency.log()[:, None] - self.frequent_frequency.log()
        deciphered = self._balanced(-0.5 * (difference / _FREQUENCY_SCALE).square())
        known = self.after_frequent @ self.follows.t() + self.before_frequent @ self.follows
        for _ in range(_ITERATIONS):
            score = (
                self.after @ deciphered @ self.follows.t()
                + self.before @ deciphered @ self.follows
                + known
            )
            deciphered = self._balanced(self.evidence[:, None] * score)
        return deciphered

    def _balanced(self, score: Tensor) -> Tensor:
        """Return p ∝ exp(score) by row, with the frequent tokens' frequencies on average."""
        probability = score.softmax(1)
        for _ in range(_BALANCING_STEPS):
            expected = self.rare_frequency @ probability
            probability = probability * (self.frequent_frequency / expected.clamp(min=1e-12))
            probability = probability / probability.sum(1, keepdim=True)
        return probability
