"""From word scores to spans.

A candidate is a run of words that might belong together. Words join a run well below the
threshold, so a name keeps its plainer parts ("Hancock Pond"); a short joining word or an initial
between two of them is crossed ("University of Texas", "Thomas A Edison").

Three things must be right about a span: that it is an entity, where it begins and where it ends.
With p the probability of its best word, and those of the words just outside, its score is

    ⅘ p² (1 − p_before) (1 − p_after)

Of candidates beyond all doubt, four in five are entities to the letter of somebody's guideline.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from thresher.entities.finding.signal_weights import Scores
from thresher.entities.priors.casing import Casing, casing, is_capitalised
from thresher.entities.priors.word_lists import ARTICLES, JOINERS
from thresher.text.annotations import Span
from thresher.text.sentences import Sentence

JOINS_ABOVE = 0.22
SUREST = 0.8
_LONGEST_JOINT = 2  # words


@dataclass(frozen=True, slots=True)
class Candidate:
    """Words start to end (exclusive) of a sentence, and how likely they are just an entity."""

    start: int
    end: int
    score: float

    def in_text(self, text: str, sentence: Sentence) -> Span:
        """The same as characters of the text that the sentence is from."""
        start, end = sentence.starts[self.start], sentence.end_of(self.end - 1)
        return Span(start, end, text[start:end], self.score)


def decode(
    sentences: Iterable[Sequence[str]], scores: Scores, *, not_names: Set[str] = frozenset()
) -> Iterator[list[Candidate]]:
    """Yield the candidates of each sentence.

    scores: (words,), of the words of all sentences
    """
    values: list[float] = scores.tolist()  # Python floats are faster than arrays of a few numbers
    end = 0
    for words in sentences:
        start, end = end, end + len(words)
        yield candidates(words, values[start:end], not_names=not_names)
    if end != len(values):
        raise ValueError(f"there must be one score per word: {end} words, {len(values)} scores")


def candidates(
    words: Sequence[str], scores: Sequence[float], *, not_names: Set[str] = frozenset()
) -> list[Candidate]:
    """Return the candidates of a sentence: non-overlapping, from left to right."""
    if len(words) != len(scores):
        raise ValueError(
            f"there must be one score per word: {len(words)} words, {len(scores)} scores"
        )
    found = []
    for run in _runs(words, [i for i, score in enumerate(scores) if score >= JOINS_ABOVE]):
        start, end = _trimmed(words, *run, not_names)
        if start < end:
            start -= _has_own_article(words, start)
            found.append(Candidate(start, end, _span_score(scores, start, end)))
    return found


def _span_score(scores: Sequence[float], start: int, end: int) -> float:
    best = max(scores[start:end])
    before = scores[start - 1] if start > 0 else 0.0
    after = scores[end] if end < len(scores) else 0.0
    return SUREST * best**2 * (1 - before) * (1 - after)


def _runs(words: Sequence[str], joining: Sequence[int]) -> list[tuple[int, int]]:
    """Words that join and follow each other, or with one or two joining words between them."""
    if not joining:
        return []
    edges = [
        (left + 1, right)
        for left, right in pairwise(joining)
        if right > left + 1 and not _joined(words[left + 1 : right])
    ]
    starts = [joining[0], *(start for _, start in edges)]
    ends = [*(end for end, _ in edges), joining[-1] + 1]
    return list(zip(starts, ends, strict=True))


def _joined(gap: Sequence[str]) -> bool:
    return len(gap) <= _LONGEST_JOINT and all(map(_joins, gap))


def _joins(word: str) -> bool:
    """Whether it is a joining word or an initial: "Thomas A Edison", "george w. bush"."""
    letter = word.rstrip(".")
    initial = len(letter) == 1 and letter.isalpha() and word not in ("a", "i", "I")
    return initial or word.casefold() in JOINERS


def _has_own_article(words: Sequence[str], start: int) -> bool:
    """Whether an article just before is part of the name: "in The Forge", but "The Forge is"."""
    before = words[start - 1] if start > 0 else ""
    if before.casefold() not in ARTICLES or not is_capitalised(before):  # nearly always
        return False
    return casing(words)[start - 1] is Casing.CAPITAL


def _trimmed(words: Sequence[str], start: int, end: int, not_names: Set[str]) -> tuple[int, int]:
    """Without articles, joining words and titles at the edges."""
    while start < end and _at_edge(words[start].casefold(), not_names):
        start += 1
    while start < end and _at_edge(words[end - 1].casefold(), not_names):
        end -= 1
    return start, end


def _at_edge(word: str, not_names: Set[str]) -> bool:
    return word in JOINERS or word in ARTICLES or word in not_names


def best_threshold(scores: Sequence[float]) -> float:
    """The threshold with the largest expected F1, if scores are probabilities.

    With the k best candidates selected, F1 is expected to be 2 Σ_{i≤k} pᵢ / (k + Σ pᵢ); no label
    is needed for that. Half of the best F1, as it turns out, is the threshold.
    """
    ranked = np.sort(np.asarray(scores, dtype=np.float64))[::-1]
    if len(ranked) == 0 or ranked[0] == 0:
        return 0.5
    count = np.arange(1, len(ranked) + 1)
    expected = 2 * np.cumsum(ranked) / (count + ranked.sum())
    return float(expected.max() / 2)
