"""Names in a list support each other: "Exodus, Testament, Megadeth and Slayer".

Of four or more candidates that only commas, "and" and "or" separate, those with a score below the
median get the median. Scores are never lowered.
"""

from collections.abc import Iterator, Sequence
from statistics import median_high

from thresher.entities.finding.decoding import Candidate

_MIN_NAMES = 4
_SEPARATORS = frozenset(
    [(",",), (";",), ("/",), ("&",), ("and",), ("or",), (",", "and"), (",", "or")]
)


def with_listed_names(
    sentences: Sequence[Sequence[str]], candidates: Sequence[Sequence[Candidate]]
) -> list[list[Candidate]]:
    """Return the candidates of each sentence, with scores supported by those in the same list."""
    return [
        list(_supported(words, own)) if len(own) >= _MIN_NAMES else list(own)
        for words, own in zip(sentences, candidates, strict=True)
    ]


def _supported(words: Sequence[str], candidates: Sequence[Candidate]) -> Iterator[Candidate]:
    for names in _lists(words, candidates):
        least = median_high(each.score for each in names) if len(names) >= _MIN_NAMES else 0.0
        yield from (each if each.score >= least else each._replace(score=least) for each in names)


def _lists(words: Sequence[str], candidates: Sequence[Candidate]) -> Iterator[list[Candidate]]:
    """Yield all candidates, those of a list together."""
    names = [candidates[0]]
    for each in candidates[1:]:
        between = tuple(word.casefold() for word in words[names[-1].end : each.start])
        if between not in _SEPARATORS:
            yield names
            names = []
        names.append(each)
    yield names
