"""Repeated mentions of a name within a text support each other.

Candidates with the same words (in any case) are mentions of the same name. Their scores are raised
to the score that two thirds of the mentions in the text reach. So a name that is found nearly
everywhere is found everywhere, and a word that is rarely taken for a name is not changed. Scores
are never lowered.
"""

from collections.abc import Sequence

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
    supported = [list(each) for each in candidates]
    low = 0
    for length in text_lengths:
        _support(sentences, supported, range(low, low + length))
        low += length
    return supported


def _support(
    sentences: Sequence[Sequence[str]], candidates: list[list[Candidate]], text: range
) -> None:
    """Raise the scores of the candidates of one text, in place."""
    mentions: dict[str, list[tuple[list[Candidate], int]]] = {}
    for number in text:
        words, own = sentences[number], candidates[number]
        for index, each in enumerate(own):
            start, end = each.start, each.end
            name = words[start] if end == start + 1 else " ".join(words[start:end])
            mentions.setdefault(name.casefold(), []).append((own, index))
    for places in mentions.values():
        if len(places) == 1:
            continue
        scores = sorted(own[index].score for own, index in places)
        least = scores[len(scores) // _UNSUPPORTED]
        if least == scores[0]:
            continue
        for own, index in places:
            if own[index].score < least:
                own[index] = own[index]._replace(score=least)
