"""Decode word scores into candidate spans.

A candidate is a run of words that may form one entity. The score at which a word joins a run is
well below the threshold, so that a name keeps its common words ("Hancock Pond"). Runs extend across
one or two joining words or initials ("University of Texas", "Thomas A Edison").

A span is correct if it is an entity, begins at the right word and ends at the right word. With p
the score of its best word, and the scores of the words directly before and after it, its score is

    ⅘ p² (1 − p_before) (1 − p_after)

The factor ⅘ is the precision of the most certain candidates: four in five match an annotation.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from thresher.entities.finding.signal_weights import Scores
from thresher.entities.priors.casing import Casing, casing_of_sentence
from thresher.entities.priors.word_lists import ARTICLES, JOINERS
from thresher.text.annotations import Span
from thresher.text.sentences import Sentence

MIN_WORD_SCORE = 0.22  # of a word that joins a run; a model may have its own
MAX_SPAN_SCORE = 0.8
_MAX_GAP = 2  # joining words between two parts of a run
CAPITALISED_ARTICLES = {  # "The", "THE" and all other forms with a capital
    "".join(letters)
    for article in ARTICLES
    for letters in product(*zip(article, article.upper(), strict=True))
} - ARTICLES


class Candidate(NamedTuple):
    """The words `start` to `end` (exclusive) of a sentence, and how likely they are an entity.

    kind, kind_score: as in `Span`
    """

    start: int
    end: int
    score: float
    kind: str | None = None
    kind_score: float | None = None

    def in_text(self, text: str, sentence: Sentence) -> Span:
        """Return the span of characters in the text that contains the sentence."""
        start, end = sentence.starts[self.start], sentence.end_of(self.end - 1)
        return Span(start, end, text[start:end], self.score, self.kind, self.kind_score)


def word_spans(
    candidates: Sequence[Candidate],
) -> tuple[list[tuple[int, int]], list[str | None]]:
    """Return the (start, end) of candidates in words, and their kinds, as CoNLL writers need."""
    return [(each.start, each.end) for each in candidates], [each.kind for each in candidates]


def decode(
    sentences: Iterable[Sequence[str]],
    scores: Scores,
    *,
    not_names: Set[str] = frozenset(),
    min_word_score: float = MIN_WORD_SCORE,
) -> Iterator[list[Candidate]]:
    """Yield the candidates of each sentence.

    scores: (words,), of the words of all sentences
    min_word_score: of a word that joins a run
    """
    values: list[float] = scores.tolist()  # Python floats are faster than arrays of a few numbers
    end = 0
    for words in sentences:
        start, end = end, end + len(words)
        yield candidates(
            words, values[start:end], not_names=not_names, min_word_score=min_word_score
        )
    if end != len(values):
        raise ValueError(f"there must be one score per word: {end} words, {len(values)} scores")


def candidates(
    words: Sequence[str],
    scores: Sequence[float],
    *,
    not_names: Set[str] = frozenset(),
    min_word_score: float = MIN_WORD_SCORE,
) -> list[Candidate]:
    """Return the candidates of a sentence: non-overlapping, from left to right."""
    if len(words) != len(scores):
        raise ValueError(
            f"there must be one score per word: {len(words)} words, {len(scores)} scores"
        )
    found = []
    for run in _runs(words, [i for i, score in enumerate(scores) if score >= min_word_score]):
        start, end = _trimmed(words, *run, not_names)
        if start < end:
            start -= _has_own_article(words, start)
            found.append(Candidate(start, end, _span_score(scores, start, end)))
    return found


def _span_score(scores: Sequence[float], start: int, end: int) -> float:
    best = max(scores[start:end])
    before = scores[start - 1] if start > 0 else 0.0
    after = scores[end] if end < len(scores) else 0.0
    return MAX_SPAN_SCORE * best**2 * (1 - before) * (1 - after)


def _runs(words: Sequence[str], joining: Sequence[int]) -> list[tuple[int, int]]:
    """Return the bounds of runs of words that are adjacent or separated by joining words.

    joining: the indices of words that score high enough
    """
    if not joining:
        return []
    edges = [
        (left + 1, right)
        for left, right in pairwise(joining)
        if right > left + 1 and not _is_bridged(words[left + 1 : right])
    ]
    starts = [joining[0], *(start for _, start in edges)]
    ends = [*(end for end, _ in edges), joining[-1] + 1]
    return list(zip(starts, ends, strict=True))


def _is_bridged(gap: Sequence[str]) -> bool:
    return len(gap) <= _MAX_GAP and all(map(_is_joining_word, gap))


def _is_joining_word(word: str) -> bool:
    """Return True for words such as "of", and initials: "Thomas A Edison", "george w. bush"."""
    letter = word.rstrip(".")
    is_initial = len(letter) == 1 and letter.isalpha() and word not in ("a", "i", "I")
    return is_initial or word.casefold() in JOINERS


def _has_own_article(words: Sequence[str], start: int) -> bool:
    """Return True if an article before is part of the name: "in The Forge", not "The Forge is"."""
    if start == 0 or words[start - 1] not in CAPITALISED_ARTICLES:
        return False
    return casing_of_sentence(words)[start - 1] is Casing.CAPITAL


def _trimmed(words: Sequence[str], start: int, end: int, not_names: Set[str]) -> tuple[int, int]:
    """Return the bounds without articles, joining words and words of `not_names` at the edges."""
    while start < end and _is_trimmed(words[start].casefold(), not_names):
        start += 1
    while start < end and _is_trimmed(words[end - 1].casefold(), not_names):
        end -= 1
    return start, end


def _is_trimmed(word: str, not_names: Set[str]) -> bool:
    return word in JOINERS or word in ARTICLES or word in not_names


def best_threshold(scores: Sequence[float]) -> float:
    """Return the threshold with the largest expected F1, if scores are probabilities.

    The expected F1 of the k best candidates is 2 Σ_{i≤k} pᵢ / (k + Σ pᵢ), which needs no labels.
    The best threshold is half of the largest expected F1.
    """
    ranked = np.sort(np.asarray(scores, dtype=np.float64))[::-1]
    if len(ranked) == 0 or ranked[0] == 0:
        return 0.5
    count = np.arange(1, len(ranked) + 1)
    expected = 2 * np.cumsum(ranked) / (count + ranked.sum())
    return float(expected.max() / 2)
