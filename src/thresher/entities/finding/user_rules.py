"""Names and patterns that a user always or never wants reported, applied after finding.

A rule is a name, or a regular expression between slashes: `/[A-Z]{2}-\\d+/`. A name with a capital
matches words written exactly so, a name in lower case matches them in any case.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, chain, pairwise
from pathlib import Path

import numpy as np
import regex

from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.scored_text import ScoredSentence, ScoredText
from thresher.errors import InputError, os_errors_as_input_errors
from thresher.text.sentences import Sentence, segment

_MAX_FILE_BYTES = 1 << 26
_SECONDS = 1.0  # for one pattern in one text, so that no pattern can stop a run
_Bounds = tuple[int, int]


@dataclass(frozen=True)
class UserRules:
    """Rules of a user.

    always: names and patterns that are always entities, with the score 1
    never: names and patterns that are never entities; they must match a whole entity, and have
        precedence over `always`
    """

    always: tuple[str, ...] = ()
    never: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for rule in (*self.always, *self.never):
            _pattern(rule)  # raises InputError

    @cached_property
    def _always(self) -> "_Rules":
        return _Rules(self.always)

    @cached_property
    def _never(self) -> "_Rules":
        return _Rules(self.never)

    def apply(self, scored: ScoredText) -> ScoredText:
        """Return a scored text whose candidates follow the rules.

        Sentences that a name of `always` connects ("Yahoo! Answers") become one.
        """
        scored = _with_joined_sentences(scored, self._connected_sentences(scored))
        matches = self._always.find(scored.text)
        sentences = [
            self._apply(each, sentence, scored.text, matches)
            for sentence, each in zip(scored.sentences, scored.scored_sentences, strict=True)
        ]
        return replace(scored, scored_sentences=sentences)

    def apply_to_words(self, sentences: Sequence[ScoredSentence]) -> list[ScoredSentence]:
        """Return scored sentences of split text whose candidates follow the rules.

        Patterns are matched with the words of a sentence joined by spaces.
        """
        changed = []
        for each in sentences:
            sentence = Sentence.from_words(each.words)
            text = " ".join(each.words)
            changed.append(self._apply(each, sentence, text, self._always.find(text)))
        return changed

    def _connected_sentences(self, scored: ScoredText) -> set[int]:
        """Return the indices of sentences that a name connects with the sentence before."""
        words = [word for each in scored.scored_sentences for word in each.words]
        ends = list(accumulate(len(each.words) for each in scored.scored_sentences))
        connected: set[int] = set()
        for start, end in self._always.find_names(words):
            later = range(bisect_right(ends, start) + 1, bisect_left(ends, end) + 1)
            if all(_continues_line(scored, sentence) for sentence in later):
                connected.update(later)
        return connected

    def _apply(
        self, scored: ScoredSentence, sentence: Sentence, text: str, matches: Sequence[_Bounds]
    ) -> ScoredSentence:
        bounds = _in_words(sentence, matches)
        bounds += self._always.find_names(scored.words)
        added = list(_without_overlaps(bounds))
        # A candidate with the same bounds is kept for its kind.
        known = {(each.start, each.end): each for each in scored.candidates}
        candidates = [known.get(each, Candidate(*each, 1.0))._replace(score=1.0) for each in added]
        taken = {word for start, end in added for word in range(start, end)}
        candidates += (
            each for each in scored.candidates if taken.isdisjoint(range(each.start, each.end))
        )
        kept = [each for each in candidates if not self._is_excluded(each, scored, sentence, text)]
        return replace(scored, candidates=sorted(kept, key=lambda each: each.start))

    def _is_excluded(
        self, candidate: Candidate, scored: ScoredSentence, sentence: Sentence, text: str
    ) -> bool:
        words = scored.words[candidate.start : candidate.end]
        return self._never.has_name(words) or self._never.matches(
            candidate.in_text(text, sentence).text
        )


class _Rules:
    """Names as sequences of words, and compiled patterns."""

    def __init__(self, rules: Iterable[str]) -> None:
        self._names: dict[str, set[tuple[str, ...]]] = {}
        self._patterns: list[regex.Pattern[str]] = []
        for rule in rules:
            if (pattern := _pattern(rule)) is not None:
                self._patterns.append(pattern)
            elif words := tuple(word for each in segment(rule) for word in each.texts):
                self._names.setdefault(words[0], set()).add(words)

    def find_names(self, words: Sequence[str]) -> list[_Bounds]:
        """Return the bounds of all names in a sentence."""
        folded = [word.casefold() for word in words]
        return [
            (start, start + len(name))
            for written in (words, folded)
            for start, word in enumerate(written)
            for name in self._names.get(word, ())
            if tuple(written[start : start + len(name)]) == name
        ]

    def has_name(self, words: Sequence[str]) -> bool:
        """Return True if the words are one of the names."""
        return (0, len(words)) in self.find_names(words)

    def find(self, text: str) -> list[_Bounds]:
        """Return the bounds of all matches of patterns in a text, sorted."""
        found = []
        for pattern in self._patterns:
            with _time_limit(pattern):
                found += [each.span() for each in pattern.finditer(text, timeout=_SECONDS)]
        return sorted((start, end) for start, end in found if start < end)

    def matches(self, text: str) -> bool:
        """Return True if one of the patterns matches the whole text."""
        for pattern in self._patterns:
            with _time_limit(pattern):
                if pattern.fullmatch(text, timeout=_SECONDS):
                    return True
        return False


@contextmanager
def _time_limit(pattern: "regex.Pattern[str]") -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise InputError(
            f"the pattern /{pattern.pattern}/ takes more than {_SECONDS:.0f} s in one text; "
            "simplify it"
        ) from error


def _pattern(rule: str) -> "regex.Pattern[str] | None":
    """Return the pattern of a rule between slashes; None for a name."""
    if len(rule) < 3 or not (rule.startswith("/") and rule.endswith("/")):
        return None
    try:
        return regex.compile(rule[1:-1])
    except RecursionError as error:
        raise InputError(f"the pattern {rule[:40]}… is nested too deeply") from error
    except regex.error as error:
        raise InputError(f"the pattern {rule} is not a regular expression: {error}") from error


def _in_words(sentence: Sentence, matches: Sequence[_Bounds]) -> list[_Bounds]:
    """Return the words that matches touch, for those matches that are inside the sentence.

    matches: sorted
    """
    low, high = (bisect_left(matches, (each, 0)) for each in (sentence.start, sentence.end))
    bounds = []
    for start, end in matches[low:high]:
        first = max(bisect_right(sentence.starts, start) - 1, 0)
        first += sentence.end_of(first) <= start
        after = bisect_left(sentence.starts, end)
        if first < after and end <= sentence.end:
            bounds.append((first, after))
    return bounds


def _continues_line(scored: ScoredText, sentence: int) -> bool:
    """Return True if no heading or paragraph ends before a sentence."""
    before = scored.sentences[sentence - 1]
    gap = scored.text[before.end : scored.sentences[sentence].start]
    line_breaks = len(f"{gap}.".splitlines()) - 1
    ends_in_punctuation = not before.texts[-1][-1].isalnum()
    return line_breaks == 0 or (line_breaks == 1 and ends_in_punctuation)


def _with_joined_sentences(scored: ScoredText, connected: Set[int]) -> ScoredText:
    """Return a scored text in which some sentences are joined with the sentence before."""
    if not connected:
        return scored
    count = len(scored.sentences)
    starts = [index for index in range(count) if index not in connected]
    groups = [slice(*bounds) for bounds in pairwise([*starts, count])]
    return replace(
        scored,
        sentences=[_joined(scored.sentences[each]) for each in groups],
        scored_sentences=[_joined_scores(scored.scored_sentences[each]) for each in groups],
    )


def _joined(sentences: Sequence[Sentence]) -> Sentence:
    if len(sentences) == 1:
        return sentences[0]
    texts, starts = zip(*((each.texts, each.starts) for each in sentences), strict=True)
    return Sentence(tuple(chain.from_iterable(texts)), tuple(chain.from_iterable(starts)))


def _joined_scores(sentences: Sequence[ScoredSentence]) -> ScoredSentence:
    if len(sentences) == 1:
        return sentences[0]
    before = accumulate((len(each.words) for each in sentences), initial=0)
    candidates = [
        each._replace(start=each.start + shift, end=each.end + shift)
        for sentence, shift in zip(sentences, before, strict=False)
        for each in sentence.candidates
    ]
    words = [word for each in sentences for word in each.words]
    return ScoredSentence(words, np.concatenate([each.scores for each in sentences]), candidates)


def _without_overlaps(bounds: Iterable[_Bounds]) -> Iterator[_Bounds]:
    """Yield bounds from left to right; of those that overlap, the first and longest."""
    last = 0
    for start, end in sorted(set(bounds), key=lambda each: (each[0], -each[1])):
        if start >= last:
            yield start, end
            last = end


def read_rules(path: str | Path) -> tuple[str, ...]:
    """Read the rules of a file: one per line; blank lines and comments (#) are ignored."""
    with os_errors_as_input_errors(f"cannot read {path}"), Path(path).open("rb") as stream:
        data = stream.read(_MAX_FILE_BYTES + 1)
    if len(data) > _MAX_FILE_BYTES:
        raise InputError(f"{path} is larger than {_MAX_FILE_BYTES >> 20} MiB")
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text") from error
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
