"""Repeated mentions of a name within a text support each other.

Candidates with the same words (in any case) are mentions of the same name. Their scores are raised
to the score that two thirds of the mentions in the text reach. So a name that is found nearly
everywhere is found everywhere, and a word that is rarely taken for a name is not changed. Scores
are never lowered.
"""

from collections.abc import Sequence
from itertools import chain, islice

from thresher.entities.finding.decoding import Candidate

_UNSUPPORTED = 3  # one in three mentions may have a lower score


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
        of_text = iter(_supported(sentences[text], candidates[text]))
        supported += [list(islice(of_text, len(own))) for own in candidates[text]]
    return supported


def _supported(
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
