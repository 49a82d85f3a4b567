"""Names in a list support each other: "Exodus, Testament, Megadeth and Slayer".

Of four or more candidates that only commas, "and" and "or" separate, those with a score below the
median get the median. Scores are never lowered.
"""

from collections.abc import Sequence
from statistics import median_high

from thresher.entities.finding.decoding import Candidate

_MIN_NAMES = 4
_SEPARATORS = frozenset([",", ";", "/", "&", "and", "or", ", and", ", or"])
_MAX_SEPARATOR = 2  # words


def with_listed_names(
    sentences: Sequence[Sequence[str]], candidates: Sequence[Sequence[Candidate]]
) -> list[list[Candidate]]:
    """Return the candidates of each sentence, with scores supported by those in the same list."""
    return [
        _supported(words, own) if len(own) >= _MIN_NAMES else list(own)
        for words, own in zip(sentences, candidates, strict=True)
    ]


def _supported(words: Sequence[str], candidates: Sequence[Candidate]) -> list[Candidate]:
    supported, start = list(candidates), 0
    for end in range(1, len(candidates) + 1):
        if end < len(candidates) and _in_one_list(words, candidates[end - 1], candidates[end]):
            continue
        if end - start >= _MIN_NAMES:
            names = supported[start:end]
            least = median_high(each.score for each in names)
            supported[start:end] = [
                each if each.score >= least else each._replace(score=least) for each in names
            ]
        start = end
    return supported


def _in_one_list(words: Sequence[str], name: Candidate, following: Candidate) -> bool:
    """Return True if only a comma, "and" or the like separates two candidates."""
    if not 1 <= following.start - name.end <= _MAX_SEPARATOR:
        return False
    return " ".join(words[name.end : following.start]).casefold() in _SEPARATORS
