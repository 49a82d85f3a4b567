"""The base class of finders: from texts to scored texts and spans, however words are scored."""

import logging
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import islice
from pathlib import Path
from typing import Any, Self, overload

from thresher.entities.finding.decoding import Candidate
from thresher.entities.finding.found_spans import (
    FoundSpans,
    spans_to_frame,
    with_missing_as_empty,
)
from thresher.entities.finding.kind_filter import checked_filter
from thresher.entities.finding.scored_text import ScoredSentence, ScoredText
from thresher.entities.finding.user_rules import UserRules, read_rules
from thresher.errors import InputError
from thresher.gates.batching import group_by_words
from thresher.text.annotations import Span
from thresher.text.records import is_missing
from thresher.text.sentences import Sentence, segment

SENTENCES_PER_GROUP = 512
_WORDS_PER_GROUP = 20_000  # texts are scored in groups of about this many words

SplitText = Sequence[Sequence[str]]
"""The sentences of one text, each a sequence of words."""


class TextFinder(ABC):
    """Finds spans in texts; a subclass scores words and gives the threshold.

    rules: names and patterns that are always or never reported; see `with_rules`
    """

    rules: UserRules | None = None

    @property
    @abstractmethod
    def threshold(self) -> float:
        """The smallest score of a candidate that counts as an entity."""

    @abstractmethod
    def _score(self, texts: Sequence[SplitText]) -> list[ScoredSentence]:
        """Score the sentences of all texts, one text after the other.

        Texts may share batches, but the scores of one must not depend on the others.
        """

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that spans can have; empty if the finder knows none."""
        return ()

    def with_rules(
        self,
        *,
        always: Iterable[str] | str | Path = (),
        never: Iterable[str] | str | Path = (),
    ) -> Self:
        """Return a finder that always or never reports some names and patterns.

        always, never: names, and patterns such as "/[A-Z]{2}-\\d+/"; or the path of a file with one
            of them in each line

        >>> finder.with_rules(always=["the Forge"], never=["Monday", "/[0-9]+/"])
        """
        finder = copy(self)
        finder.rules = UserRules(_rules(always), _rules(never))
        return finder

    @property
    def lacks_int8(self) -> bool:
        """True if the model can run in int8 on a CPU, but this CPU cannot."""
        return False

    def unreadable(self, text: str) -> str | None:
        """Return why the finder cannot read a text, and which model can; None if it can."""
        return None

    def adapted_to_words(self, texts: Iterable[SplitText]) -> "TextFinder":
        """Return a finder that is adapted to texts split into words; not every finder can be."""
        raise InputError(f"{type(self).__name__} cannot be adapted to texts")

    @overload
    def find(
        self,
        text: str,
        *,
        threshold: float | None = None,
        only: Collection[str | None] | None = None,
    ) -> FoundSpans: ...

    @overload
    def find(
        self,
        text: Iterable[Any],
        *,
        threshold: float | None = None,
        only: Collection[str | None] | None = None,
    ) -> list[FoundSpans]: ...

    def find(
        self,
        text: str | Iterable[Any],
        *,
        threshold: float | None = None,
        only: Collection[str | None] | None = None,
    ) -> FoundSpans | list[FoundSpans]:
        """Return the entities of a text, from left to right; or those of each of several texts.

        text: a text; or a list, or a column of pandas or polars. A missing value has no entities
        only: the kinds of entities to return, None for those without a kind; by default all
        """
        if isinstance(text, bytes) or not isinstance(text, Iterable):
            raise _not_a_string(text)
        if not isinstance(text, str):
            refuse_string(text, "texts", "find")
        if isinstance(text, str) and (problem := self.unreadable(text)):
            logging.getLogger("thresher").warning(problem)
        texts = [text] if isinstance(text, str) else with_missing_as_empty(text)
        found = self.find_all(texts, threshold=threshold, only=only)
        results = [FoundSpans(each, spans) for each, spans in zip(texts, found, strict=True)]
        return results[0] if isinstance(text, str) else results

    def to_frame(
        self,
        texts: Iterable[Any],
        *,
        threshold: float | None = None,
        only: Collection[str | None] | None = None,
    ) -> Any:
        """Return the entities of texts as a data frame: row, start, end, text, score, kind.

        There is one row for each entity, and one for each text that has none or is missing; `row`
        is the position of the text. A polars column gives a polars frame; all others give a
        pandas frame, with the index of a pandas column.
        """
        refuse_string(texts, "texts", "find")
        texts = texts if hasattr(texts, "__len__") else list(texts)
        return spans_to_frame(texts, self.find(texts, threshold=threshold, only=only))

    def find_all(
        self,
        texts: Iterable[str],
        *,
        threshold: float | None = None,
        only: Collection[str | None] | None = None,
    ) -> Iterator[list[Span]]:
        """Yield the entities of each text. Lazy: texts are consumed a few at a time."""
        kept = checked_filter(self, threshold, only)
        for scored in self.score_texts(texts):
            yield scored.spans(*kept)

    def find_words(
        self,
        sentences: SplitText,
        *,
        threshold: float | None = None,
        only: Collection[str | None] | None = None,
    ) -> list[list[Candidate]]:
        """Return the entities of each sentence of one text that is already split into words."""
        kept = checked_filter(self, threshold, only)
        _check_words(sentences)
        return [scored.found(*kept) for scored in self.score_sentences(sentences)]

    def score_texts(self, texts: Iterable[str]) -> Iterator[ScoredText]:
        """Yield every text with the scores of its words and all its candidates.

        Lazy: texts are segmented and scored in groups of about 20,000 words.
        """
        segmented = _segmented(refuse_string(texts, "texts", "find"))
        for group in group_by_words(segmented, _count_words, _WORDS_PER_GROUP):
            scored = iter(self._score([[each.texts for each in split] for _, split in group]))
            for text, split in group:
                found = ScoredText(text, split, list(islice(scored, len(split))))
                yield found if self.rules is None else self.rules.apply(found)

    def score_sentences(self, sentences: SplitText) -> list[ScoredSentence]:
        """Return the scored sentences of one text that is already split into words."""
        _check_split(sentences)
        scored = self._score([sentences])
        return scored if self.rules is None else self.rules.apply_to_words(scored)

    def score_long_text(self, sentences: Iterable[Sequence[str]]) -> Iterator[ScoredSentence]:
        """Yield the scored sentences of a split text of any length.

        Every 512 sentences are scored as a text of their own.
        """
        remaining = iter(sentences)
        while group := list(islice(remaining, SENTENCES_PER_GROUP)):
            yield from self.score_sentences(group)


def _rules(given: Iterable[str] | str | Path) -> tuple[str, ...]:
    return read_rules(given) if isinstance(given, str | Path) else tuple(given)


def refuse_string(texts: Iterable[str], name: str, instead: str) -> Iterable[str]:
    """Return the texts; a single string is an error, since its characters would be the texts.

    A table or a mapping is an error, too: the names of its columns would be the texts.
    """
    if isinstance(texts, str):
        raise InputError(f"`{name}` must be a list of strings; for one text use {instead}")
    got = type(texts).__name__
    if isinstance(texts, Mapping) or hasattr(type(texts), "columns"):
        raise InputError(f"`{name}` must be a list of strings or a column, got a whole {got}")
    if isinstance(texts, bytes) or not isinstance(texts, Iterable):
        raise InputError(f"`{name}` must be a list of strings, got {got} {reprlib.repr(texts)}")
    return texts


def split_into_words(texts: Iterable[Any]) -> Iterator[list[Sequence[str]]]:
    """Yield the sentences of each text as words; a missing value of a column has none."""
    for _, sentences in _segmented("" if is_missing(text) else text for text in texts):
        yield [each.texts for each in sentences]


def _check_split(sentences: SplitText) -> None:
    if any(isinstance(words, str) for words in sentences):
        raise InputError("a sentence must be a list of words, not a string; for a text use find")


def _check_words(sentences: SplitText) -> None:
    """Raise `InputError` unless sentences are sequences of strings."""
    for words in sentences:
        if not isinstance(words, Collection):
            raise InputError(f"a sentence must be a list of words, got {reprlib.repr(words)}")
        for word in words:
            if not isinstance(word, str):
                raise InputError(f"a word must be a string, got {type(word).__name__} {word!r}")


def _segmented(texts: Iterable[str]) -> Iterator[tuple[str, list[Sentence]]]:
    for text in texts:
        if not isinstance(text, str):  # for example the missing value of a table
            raise _not_a_string(text)
        yield text, segment(text)


def _not_a_string(text: object) -> InputError:
    return InputError(f"a text must be a string, got {type(text).__name__} {text!r}")


def _count_words(text: tuple[str, list[Sentence]]) -> int:
    return sum(len(sentence.texts) for sentence in text[1])
