"""Abbreviations in parentheses show where a name starts: "National Bureau of Standards (NBS)".

The words before the parenthesis are the long form of the abbreviation if their initials spell it;
prepositions, articles and the like may be skipped, and a word with a hyphen may count with the
initials of its parts. A long form and its abbreviation are names of the same thing, so both get the
larger of their scores. Candidates that overlap with the long form are replaced by it.
"""

from collections.abc import Iterator, Sequence, Set
from itertools import starmap

import numpy as np

from thresher.entities.finding.candidate_arrays import CandidateArrays
from thresher.entities.finding.decoding import Candidate
from thresher.text.indexed_sentences import IndexedSentences

_OPENING, _CLOSING = frozenset("(["), frozenset(")]")
_MIN_LETTERS, _MAX_LETTERS = 2, 10
_MIN_WORDS, _MAX_WORDS = 2, 30  # of a long form
_SKIPPED = frozenset("of and the for in on to a an by with at de & - – / 's ’s".split())


def with_long_forms(sentences: IndexedSentences, found: CandidateArrays) -> CandidateArrays:
    """Return the candidates of all sentences, with the long forms of abbreviations among them."""
    forms = list(_long_forms(sentences))
    if not forms:
        return found
    ends_of_forms = np.array([end for _, end in forms])
    with_forms = np.searchsorted(sentences.starts, ends_of_forms, side="right") - 1
    is_changed = np.isin(found.sentence, with_forms)  # candidates of other sentences stay
    kept, own = found.rows(~is_changed), found.rows(is_changed)
    values = (each.tolist() for each in (own.starts, own.ends, own.scores))
    names = _with_forms(list(starmap(Candidate, zip(*values, strict=True))), forms)
    joined = CandidateArrays.from_spans(
        sentences,
        np.append(kept.starts, [each.start for each in names]).astype(np.int64),
        np.append(kept.ends, [each.end for each in names]).astype(np.int64),
        np.append(kept.scores, [each.score for each in names]),
    )
    return joined.rows(np.argsort(joined.starts))


def _long_forms(sentences: IndexedSentences) -> Iterator[tuple[int, int]]:
    """Yield the start of each long form and the parenthesis where it ends.

    Both are counted through all sentences.
    """
    opening, closing = (
        sentences.map_words(marks.__contains__, np.bool_) for marks in (_OPENING, _CLOSING)
    )
    openings = np.flatnonzero(opening[:-2] & closing[2:])
    numbers = np.searchsorted(sentences.starts, openings, side="right") - 1
    own, words = -1, list[str]()
    for number, position in zip(numbers.tolist(), openings.tolist(), strict=True):
        if number != own:
            own, words = number, sentences[number]
        offset = int(sentences.starts[number])
        start = long_form_start(words, position - offset)
        if start is not None:
            yield offset + start, position


def long_form_start(words: Sequence[str], opening: int) -> int | None:
    """Return where the long form of the abbreviation in a parenthesis starts; None without one.

    opening: the index of the opening parenthesis, where the long form ends

    >>> long_form_start(["the", "World", "Health", "Organization", "(", "WHO", ")"], 4)
    1
    """
    if opening + 2 >= len(words) or words[opening + 2] not in _CLOSING:
        return None
    letters = _letters_of(words[opening + 1])
    if not letters:
        return None
    low = max(0, opening - _MAX_WORDS)
    before = words[low:opening]
    # "and" does not count in NASA, but "of" does in DoD.
    start = _spelled_from(before, letters, skipped=_SKIPPED)
    if start is None:
        start = _spelled_from(before, letters, skipped=frozenset())
    return low + start if start is not None and len(before) - start >= _MIN_WORDS else None


def _spelled_from(words: Sequence[str], letters: Sequence[str], *, skipped: Set[str]) -> int | None:
    """Return the word from which on the initials of all words spell the letters.

    skipped: words whose initials do not count
    """
    remaining, start = list(letters), len(words)
    while remaining and start > 0:
        start -= 1
        if words[start].casefold() in skipped:
            continue
        initials = list(_initials(words[start]))
        if initials and remaining[-len(initials) :] == initials:
            del remaining[-len(initials) :]
        elif initials[:1] == remaining[-1:]:
            del remaining[-1]
        elif words[start].casefold() not in _SKIPPED:
            return None
    return None if remaining else start


def _letters_of(abbreviation: str) -> list[str]:
    """Return the characters that the initials must spell; none if this is no abbreviation.

    The plural of "CRF" is "CRFs"; its last letter does not count.
    """
    if len(abbreviation) > _MIN_LETTERS and abbreviation[:-1].isupper():
        abbreviation = abbreviation.removesuffix("s")
    letters = [each for each in abbreviation.casefold() if each.isalnum()]
    fits = _MIN_LETTERS <= len(letters) <= _MAX_LETTERS and abbreviation[0].isalnum()
    return letters if fits and any(map(str.isalpha, letters)) else []


def _initials(word: str) -> Iterator[str]:
    return (part[0] for part in word.casefold().split("-") if part and part[0].isalnum())


def _with_forms(
    candidates: Sequence[Candidate], forms: Sequence[tuple[int, int]]
) -> list[Candidate]:
    """Return the candidates of sentences and their long forms, without the candidates in these.

    A long form is added if a candidate overlaps with it or is its abbreviation.

    forms: the start of each long form, and the parenthesis where it ends
    """
    form_of = {word: form for form in forms for word in range(*form)}
    abbreviated = {opening + 1: (start, opening) for start, opening in forms}
    scores: dict[tuple[int, int], float] = {}
    kept, short = [], []
    for each in candidates:
        own = {form_of[word] for word in range(each.start, each.end) if word in form_of}
        form = abbreviated.get(each.start)
        for one in own or ({form} if form else ()):
            scores[one] = max(each.score, scores.get(one, 0.0))
        if form:
            short.append((each, form))
        elif not own:
            kept.append(each)
    names = [Candidate(start, end, score) for (start, end), score in scores.items()]
    names += [each._replace(score=scores[form]) for each, form in short]
    return sorted([*kept, *names])
