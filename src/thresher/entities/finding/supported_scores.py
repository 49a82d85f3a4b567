"""Raise the scores of names that other names of a text support. Scores are never lowered.

- Names in a list: "Exodus, Testament, Megadeth and Slayer". Of four or more candidates that only
  commas, "and" and "or" separate, those with a score below the median get the median.
- Repeated mentions: candidates of a text with the same words (in any case) are mentions of the same
  name. They get at least the score that two thirds of them reach. So a name that is found nearly
  everywhere is found everywhere, and a word that is rarely taken for a name is not changed.
"""

from collections.abc import Iterator
from statistics import median_high

import numpy as np
from numpy.typing import NDArray

from thresher.entities.finding.candidate_arrays import CandidateArrays, Indices
from thresher.text.indexed_sentences import IndexedSentences

_UNSUPPORTED = 3  # one in three mentions may have a lower score
_MIN_NAMES = 4
_SEPARATORS = frozenset([",", ";", "/", "&", "and", "or", ", and", ", or"])
_MAX_SEPARATOR = 2  # words


def with_repeated_mentions(found: CandidateArrays, names: Indices) -> CandidateArrays:
    """Return the candidates with scores that other mentions support.

    names: (candidates,), the number of the name of each candidate; the same name in two texts has
        two numbers
    """
    by_name = np.lexsort((found.scores, names))
    counts = np.bincount(names)
    first = np.cumsum(counts) - counts
    least = found.scores[by_name[first + counts // _UNSUPPORTED]]
    return found._replace(scores=np.maximum(found.scores, least[names]))


def with_listed_names(sentences: IndexedSentences, found: CandidateArrays) -> CandidateArrays:
    """Return the candidates with scores that others in the same list support."""
    gap = found.starts[1:] - found.ends[:-1]
    joined = (gap >= 1) & (gap <= _MAX_SEPARATOR) & (np.diff(found.sentence) == 0)
    for low, high in _lists(joined):
        for index in range(low, high - 1):
            between = sentences.word_ids[found.ends[index] : found.starts[index + 1]].tolist()
            separator = " ".join(sentences.vocabulary[word] for word in between)
            joined[index] = separator.casefold() in _SEPARATORS
    scores = found.scores.copy()
    for low, high in _lists(joined):
        scores[low:high] = np.maximum(scores[low:high], median_high(scores[low:high].tolist()))
    return found._replace(scores=scores)


def _lists(joined: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Return the first candidate and the end of each run of at least four that are joined.

    joined: (candidates − 1,), whether each candidate may be in one list with the next one
    """
    edges = np.flatnonzero(np.diff(joined, prepend=False, append=False))
    first, end = edges[::2], edges[1::2] + 1
    long = end - first >= _MIN_NAMES
    return zip(first[long].tolist(), end[long].tolist(), strict=True)
