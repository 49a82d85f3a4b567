"""Raise the scores of names that other names of a text support. Scores are never lowered.

- Names in a list: "Exodus, Testament, Megadeth and Slayer". Of four or more candidates that only
  commas, "and" and "or" separate, those with a score below the median get the median.
- Repeated mentions: candidates of a text with the same words (in any case) are mentions of the same
  name. They get at least the score that two thirds of them reach. So a name that is found nearly
  everywhere is found everywhere, and a word that is rarely taken for a name is not changed.
"""

from collections.abc import Sequence
from itertools import chain, islice
from statistics import median_high

from thresher.entities.finding.decoding import Candidate

_UNSUPPORTED = 3  # one in three mentions may have a lower score
_MIN_NAMES = 4
_SEPARATORS = frozenset([",", ";", "/", "&", "and", "or", ", and", ", or"])
_MAX_SEPARATOR = 2  # words


def with_repeated_mentions(
    sentences: Sequence[Sequence[str]],
    candidates: Sequence[Sequence[Candidate]],
    text_lengths: Sequence[int],
) -> list[list[Candidate]]:
    """Return the candidates of each sentence with scores supported by other mentions.

    text_lengths: the number of sentences of each text
    """
    supported: list[list[Candidate]] = []
    for length in text_lengths:
        text = slice(len(supported), len(supported) + length)
        of_text = iter(_with_common_score(sentences[text], candidates[text]))
        supported += [list(islice(of_text, len(own))) for own in candidates[text]]
    return supported


def _with_common_score(
    sentences: Sequence[Sequence[str]], candidates: Sequence[Sequence[Candidate]]
) -> list[Candidate]:
    """Return the candidates of all sentences of one text with raised scores."""
    supported = list(chain.from_iterable(candidates))
    names = [
        words[each.start] if each.end == each.start + 1 else " ".join(words[each.start : each.end])
        for words, own in zip(sentences, candidates, strict=True)
        for each in own
    ]
    mentions: dict[str, list[int]] = {}
    for index, name in enumerate(map(str.casefold, names)):
        mentions.setdefault(name, []).append(index)
    for indices in mentions.values():
        if len(indices) > 1:
            scores = sorted(supported[index].score for index in indices)
            least = scores[len(scores) // _UNSUPPORTED]
            for index in indices:
                if supported[index].score < least:
                    supported[index] = supported[index]._replace(score=least)
    return supported


def with_listed_names(
    sentences: Sequence[Sequence[str]], candidates: Sequence[Sequence[Candidate]]
) -> list[list[Candidate]]:
    """Return the candidates of each sentence, with scores supported by those in the same list."""
    return [
        _with_scores_of_lists(words, own) if len(own) >= _MIN_NAMES else list(own)
        for words, own in zip(sentences, candidates, strict=True)
    ]


def _with_scores_of_lists(words: Sequence[str], candidates: Sequence[Candidate]) -> list[Candidate]:
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
